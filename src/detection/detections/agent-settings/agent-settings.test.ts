import { expect, test } from 'vitest';
import { detectionBody } from '../../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../../test/support/harness.ts';

const { newOrg } = await startApp();
type Org = Awaited<ReturnType<typeof newOrg>>;
const change = (org: Org, body: unknown, headers = {}) => org.call('PUT', '/api/agent-settings', body, headers);

test('an organization has no default tools and hides nothing until it says so', async () => {
  const org = await newOrg();
  expect((await org.call('GET', '/api/agent-settings')).body).toEqual({
    defaultToolNames: null,
    hiddenDatasets: [],
    hiddenFields: [],
    auditPercent: 2,
    updatedAt: null,
  });
});

test('keeps what a change leaves out, drops repeats, and is seen by no other organization', async () => {
  const [org, stranger] = [await newOrg(), await newOrg()];
  await change(org, { hiddenFields: ['ssn', 'user.ssn', 'ssn'] });
  const { status, body } = await change(org, { defaultToolNames: ['get_rows', 'assets__find'] });
  expect([status, body]).toMatchObject([
    200,
    { defaultToolNames: ['get_rows', 'assets__find'], hiddenDatasets: [], hiddenFields: ['ssn', 'user.ssn'] },
  ]);
  expect((await stranger.call('GET', '/api/agent-settings')).body).toMatchObject({ hiddenFields: [] });
  expect((await change(org, { defaultToolNames: null })).body).toMatchObject({ defaultToolNames: null });
});

test('names the field that is not valid', async () => {
  const org = await newOrg();
  for (const [body, pointer] of [
    [{ defaultToolNames: ['get_rows', 'nope'] }, '/defaultToolNames/1'],
    [{ hiddenFields: ['a..b'] }, '/hiddenFields/0'],
    [{ hiddenFields: ['a.b.c.d.e.f.g.h.i'] }, '/hiddenFields/0'],
    [{ hiddenDatasets: [''] }, '/hiddenDatasets/0'],
    [{ auditPercent: 101 }, '/auditPercent'],
    [{ unknown: 1 }, '/unknown'],
  ] as const)
    expect((await change(org, body)).body).toMatchObject({ errors: [{ pointer }] });
});

test('is audited, versioned, and needs the scope of an administrator', async () => {
  const org = await newOrg();
  const { headers } = await org.call('GET', '/api/agent-settings');
  expect((await change(org, { hiddenDatasets: ['payroll'] })).status).toBe(200);
  const stale = await change(org, { hiddenDatasets: [] }, { 'if-match': String(headers['etag']) });
  expect(stale).toMatchObject({
    status: 412,
    body: { stale: { changes: [{ fields: [{ field: 'hiddenDatasets' }] }] } },
  });
  const { body } = await org.call('GET', '/api/audit');
  expect(body.entries[0]).toMatchObject({
    action: 'organization.agent_settings_changed',
    before: { hiddenDatasets: [] },
    after: { hiddenDatasets: ['payroll'] },
  });
});

test('a new detection gets the default tools unless its request specifies tools', async () => {
  const org = await newOrg();
  await change(org, { defaultToolNames: ['get_rows', 'entity_profile'] });
  const toolsOf = async (more: Record<string, unknown>) =>
    (await org.call('POST', '/api/detections', detectionBody(more))).body.toolNames as unknown;
  expect(await toolsOf({})).toEqual(['get_rows', 'entity_profile']);
  expect(await toolsOf({ toolNames: [] })).toEqual([]);
  expect(await toolsOf({ toolNames: null })).toEqual([]);
});

test('an imported detection gets the default tools too', async () => {
  const org = await newOrg();
  await change(org, { defaultToolNames: ['get_rows'] });
  await org.call('POST', '/api/detections/import', { detections: [detectionBody({ name: 'Imported' })] });
  const { body } = await org.call('GET', '/api/detections');
  expect(body.detections).toMatchObject([{ name: 'Imported', toolNames: ['get_rows'] }]);
});
