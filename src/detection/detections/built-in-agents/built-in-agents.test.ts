import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg, queryRows } from '../../../platform/db/db.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { disableDetection } from '../disable-detection.ts';
import { asked, idsOf, made, suggested } from '../../../../test/support/detection/detection-factory.ts';

const now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });
const org = await newOrg();

async function builtIn(of: TestOrg, type: string): Promise<ReturnType<typeof JSON.parse>> {
  const { agents } = await asked(of, 'GET', '/api/agents?limit=200');
  return agents.find(
    (agent: { isBuiltIn: boolean; builtInAgentType: string }) => agent.isBuiltIn && agent.builtInAgentType === type,
  );
}

describe('built-in agents', () => {
  test.each(['threat-relevancy', 'threat-research'])(
    '%s: one of each per organization, of the same shape',
    async (type) => {
      const record = await builtIn(org, type);
      const detection = await made(org);
      expect(record).toMatchObject({
        isBuiltIn: true,
        builtInAgentType: type,
        agentType: 'response',
        detectionCategory: null,
        detectionQuery: null,
        enabled: false,
        cronSchedule: null,
        isSuggestion: false,
        runs30d: 0,
      });
      expect(Object.keys(record)).toEqual(Object.keys(detection));
      expect((await builtIn(await newOrg(), type)).id).not.toBe(record.id);
    },
  );

  test('stand in the list of agents with every detection and suggestion, and not in that of detections', async () => {
    const other = await newOrg();
    const [detection, suggestion, deleted] = [await made(other), await suggested(other), await made(other)];
    await asked(other, 'DELETE', `/api/detections/${deleted.id}`);
    const { agents } = await asked(other, 'GET', '/api/agents');
    expect(idsOf(agents)).toHaveLength(4);
    expect(idsOf(agents)).toEqual(expect.arrayContaining([detection.id, suggestion.id]));
    expect(idsOf((await asked(other, 'GET', '/api/detections')).detections)).toEqual([detection.id]);
    const first = await asked(other, 'GET', '/api/agents?limit=3');
    const second = await asked(other, 'GET', `/api/agents?limit=3&cursor=${first.nextCursor}`);
    expect([...idsOf(first.agents), ...idsOf(second.agents)]).toEqual(idsOf(agents));
  });

  test('take schedule, enabled and model, and what GET gave', async () => {
    const { id } = await builtIn(org, 'threat-research');
    const put = (body: unknown) => asked(org, 'PUT', `/api/agents/${id}`, body);
    expect(await put({ customCronSchedule: ' 5 3  * * * ' })).toMatchObject({
      cronSchedule: '5 3 * * *',
      enabled: true,
    });
    expect(await put({ enabled: false, modelAlias: 'analyst' })).toMatchObject({
      enabled: false,
      modelAlias: 'analyst',
    });
    const record = await asked(org, 'GET', `/api/agents/${id}`);
    expect(await put(record)).toEqual(record);
    expect(await put({ name: 'other', toolNames: ['x'] })).toEqual(record);
    expect(await put({ detectionCadence: null, customCronSchedule: null })).toMatchObject({
      cronSchedule: null,
      enabled: false,
    });
    // Nothing schedules them as if they were detections.
    expect(
      await inOrg(deps.db, org.id, (tx) => queryRows(tx, sql`select 1 from schedules where detection_id = ${id}`)),
    ).toEqual([]);
  });

  test.each([
    [{ enabled: true }, '/enabled'],
    [{ modelAlias: 'x' }, '/modelAlias'],
    [{ customCronSchedule: '* * * * *' }, '/customCronSchedule'],
    [{ systemPrompt: 'x' }, '/systemPrompt'],
  ])('%j is refused at %s', async (body, pointer) => {
    const { id } = await builtIn(org, 'threat-relevancy');
    const answer = await org.call('PUT', `/api/agents/${id}`, body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('cannot be deleted, and are no detections', async () => {
    const { id } = await builtIn(org, 'threat-relevancy');
    expect((await org.call('DELETE', `/api/agents/${id}`)).status).toBe(409);
    expect((await org.call('DELETE', `/api/detections/${id}`)).status).toBe(409);
    expect((await org.call('GET', `/api/detections/${id}`)).status).toBe(404);
    expect((await org.call('PUT', `/api/detections/${id}`, {})).status).toBe(404);
    for (const action of ['restore', 'accept', 'dismiss'])
      expect((await org.call('POST', `/api/detections/${id}/${action}`)).status).toBe(404);
    expect(await builtIn(org, 'threat-relevancy')).toMatchObject({ deletedAt: null });
  });

  test('If-Match counts', async () => {
    const { id } = await builtIn(org, 'threat-relevancy');
    expect(
      (await org.call('PUT', `/api/agents/${id}`, { detectionCadence: 'daily' }, { 'if-match': '"old"' })).status,
    ).toBe(412);
  });

  test('a detection is changed and deleted at its own address', async () => {
    const { id } = await made(org);
    expect((await org.call('PUT', `/api/agents/${id}`, {})).status).toBe(409);
    expect((await org.call('DELETE', `/api/agents/${id}`)).status).toBe(409);
    expect(await asked(org, 'GET', `/api/agents/${id}`)).toMatchObject({ id, deletedAt: null });
  });
});

test('the service switches a detection off with a reason; a person switches it on again', async () => {
  const { id, updatedAt } = await made(org, { detectionCadence: 'hourly' });
  const disable = () =>
    inOrg(deps.db, org.id, (tx) =>
      disableDetection(tx, { orgId: org.id, detectionId: id, reason: 'The query failed in three slots running.', now }),
    );
  expect([await disable(), await disable()]).toEqual([true, false]);
  const off = await asked(org, 'GET', `/api/detections/${id}`);
  expect(off).toMatchObject({
    enabled: false,
    disabledReason: 'The query failed in three slots running.',
    cronSchedule: '0 * * * *',
  });
  expect(off.updatedAt > updatedAt).toBe(true);
  const schedules = () =>
    inOrg(deps.db, org.id, (tx) => queryRows(tx, sql`select active from schedules where detection_id = ${id}`));
  expect(await schedules()).toEqual([{ active: false }]);
  const { entries } = await asked(org, 'GET', '/api/audit?limit=1');
  expect(entries).toMatchObject([{ action: 'detection.disabled', keyId: null, resourceId: id }]);
  expect(
    await asked(org, 'PUT', `/api/detections/${id}`, { detectionQuery: 'select 3', enabled: true }),
  ).not.toHaveProperty('disabledReason');
  expect(await schedules()).toEqual([{ active: true }]);
});
