import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { sendEvents } from '../../../test/support/org-requests.ts';
import { processStart } from '../../../test/support/detection/windows-events.ts';
import { inOrg } from '../../platform/db/db.ts';
import { sql } from 'kysely';
import { loadLibrary } from './load-library.ts';
import { mergeVersions } from '../managed/file-fields.ts';

let now = new Date('2030-01-07T12:00:00Z');
const { deps, newOrg } = await startApp({ clock: () => now });
type Org = Awaited<ReturnType<typeof newOrg>>;

const id = 'recovery-inhibited';
const install = (org: Org, body: object) => org.call('POST', '/api/detections/library/install', body);
const update = (org: Org, body: object = {}) => org.call('POST', '/api/detections/library/update', body);

async function find(org: Org, libraryId = id) {
  const { body } = await org.call('GET', '/api/detections/library');
  return body.logSources
    .flatMap((source: { detections: { id: string }[] }) => source.detections)
    .find((one: { id: string }) => one.id === libraryId);
}

test('lists every shipped detection by log source with what the logs have of it', async () => {
  const org = await newOrg();
  const { status, body } = await org.call('GET', '/api/detections/library');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.total).toBe(loadLibrary().size);
  expect(await find(org)).toMatchObject({
    isReady: false,
    installed: null,
    datasets: [{ name: 'windows', isPresent: false, fields: [{ name: 'CommandLine', isPresent: false }] }],
  });
  await sendEvents(org, 'windows', [{ winlog: { event_data: { CommandLine: 'vssadmin list shadows' } } }]);
  expect(await find(org)).toMatchObject({
    isReady: true,
    datasets: [{ fields: [{ name: 'CommandLine', isPresent: true }] }],
  });
});

test('installs once, with tests, and leaves an installed detection as it is', async () => {
  const org = await newOrg();
  const first = await install(org, { ids: [id] });
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  const [result] = first.body.results;
  expect(result).toMatchObject({
    id,
    outcome: 'installed',
    detail: expect.stringContaining('windows has had no event'),
  });
  const again = await Promise.all([install(org, { ids: [id] }), install(org, { ids: [id, id] })]);
  for (const { body } of again)
    expect(body.results).toMatchObject([{ id, outcome: 'unchanged', detectionId: result.detectionId }]);
  expect((await org.call('GET', '/api/detections')).body.detections).toHaveLength(1);
  const tests = (await org.call('GET', `/api/detections/${result.detectionId}/tests`)).body;
  expect(tests.tests).toHaveLength(loadLibrary().get(id)!.tests.tests.length);
  expect(await find(org)).toMatchObject({
    installed: { detectionId: result.detectionId, isCurrent: true, editedFields: [] },
  });
});

test('requests at the same time install one detection', async () => {
  const org = await newOrg();
  const answers = await Promise.all(Array.from({ length: 6 }, () => install(org, { ids: [id] })));
  expect(answers.map(({ body }) => body.results[0].outcome).filter((outcome) => outcome === 'installed')).toHaveLength(
    1,
  );
  expect((await org.call('GET', '/api/detections')).body.detections).toHaveLength(1);
});

test('every shipped detection installs as it is shipped', async () => {
  const org = await newOrg();
  const { body } = await install(org, { ids: [...loadLibrary().keys()] });
  expect(body.results.filter(({ outcome }: { outcome: string }) => outcome !== 'installed')).toEqual([]);
  const list = (await org.call('GET', '/api/detections/library')).body;
  const edited = list.logSources
    .flatMap((source: { detections: { installed: { editedFields: string[] } }[] }) => source.detections)
    .filter((one: { installed: { editedFields: string[] } }) => one.installed.editedFields.length > 0);
  expect(edited).toEqual([]);
});

test('reads the organization’s own dataset, finds in it, and changes nothing in a dry run', async () => {
  const org = await newOrg();
  await sendEvents(org, 'hosts', [processStart('FS-09', 'vssadmin.exe delete shadows /all')]);
  const dry = await install(org, { ids: [id], datasets: { windows: 'hosts' }, dryRun: true });
  expect(dry.body).toMatchObject({
    dryRun: true,
    results: [{ outcome: 'installed', detectionId: null, detail: null }],
  });
  expect((await org.call('GET', '/api/detections')).body.detections).toEqual([]);
  const { results } = (await install(org, { ids: [id], datasets: { windows: 'hosts' } })).body;
  const { detectionQuery } = (await org.call('GET', `/api/detections/${results[0].detectionId}`)).body;
  expect(detectionQuery).toContain('FROM hosts');
  now = new Date(now.getTime() + 1000);
  const window = { from: '2030-01-07T09:00:00Z', to: '2030-01-07T11:00:00Z' };
  const preview = await org.call('POST', '/api/detections/preview', {
    name: 'x',
    detectionCategory: 'custom',
    systemPrompt: 'x',
    detectionQuery,
    entityField: 'host',
    ...window,
  });
  expect(JSON.stringify(preview.body)).toContain('FS-09');
  const tests = await org.call('POST', `/api/detections/${results[0].detectionId}/tests/run`, {});
  expect(tests.body.passed, JSON.stringify(tests.body)).toBe(true);
});

test('rejects unknown ids and datasets with the nearest name', async () => {
  const org = await newOrg();
  const unknown = await install(org, { ids: ['recovery-inhibted'] });
  expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '/ids/0']);
  expect(unknown.body.errors[0].detail).toContain('recovery-inhibited');
  const dataset = await install(org, { ids: [id], datasets: { window: 'hosts' } });
  expect([dataset.status, dataset.body.errors[0].pointer]).toEqual([400, '/datasets/window']);
  const notInstalled = await update(org, { ids: [id] });
  expect(notInstalled.body.results).toMatchObject([{ outcome: 'failed', detail: 'It is not installed.' }]);
});

test('an update changes what was not edited, and keeps and reports what was', async () => {
  const org = await newOrg();
  const { detectionId } = (await install(org, { ids: [id] })).body.results[0];
  // As if an earlier version with other texts had been installed.
  const earlier = { description: 'Earlier.', systemPrompt: 'Earlier prompt.' };
  await org.call('PUT', `/api/detections/${detectionId}`, earlier);
  await inOrg(deps.db, org.id, (tx) =>
    sql`update library_installs set version = 'earlier', fields = (fields::jsonb || ${JSON.stringify(earlier)}::jsonb)::text`.execute(
      tx,
    ),
  );
  await org.call('PUT', `/api/detections/${detectionId}`, { description: 'Ours.' });
  expect(await find(org)).toMatchObject({ installed: { isCurrent: false, editedFields: ['description'] } });
  const dry = (await update(org, { dryRun: true })).body.results;
  const { results } = (await update(org)).body;
  expect(results).toEqual(dry);
  expect(results).toMatchObject([
    { id, outcome: 'updated', changes: [{ field: 'systemPrompt' }], kept: [{ field: 'description', before: 'Ours.' }] },
  ]);
  const record = (await org.call('GET', `/api/detections/${detectionId}`)).body;
  expect(record.description).toBe('Ours.');
  expect(record.activeSystemPrompt.prompt).toBe(loadLibrary().get(id)!.body.systemPrompt);
  expect((await update(org)).body.results).toEqual([]);
  expect(await find(org)).toMatchObject({ installed: { isCurrent: true, editedFields: ['description'] } });
});

test('after a deletion, a detection can be installed again', async () => {
  const org = await newOrg();
  const { detectionId } = (await install(org, { ids: [id] })).body.results[0];
  await org.call('DELETE', `/api/detections/${detectionId}`);
  expect((await find(org)).installed).toBeNull();
  expect((await install(org, { ids: [id] })).body.results[0]).toMatchObject({ outcome: 'installed' });
});

test.each([
  ['only shipped', { a: 1 }, { a: 2 }, { a: 1 }, ['name'], []],
  ['only edited', { a: 1 }, { a: 1 }, { a: 2 }, [], []],
  ['both, differently', { a: 1 }, { a: 2 }, { a: 3 }, [], ['name']],
  ['both, equally', { a: 1 }, { a: 2 }, { a: 2 }, [], []],
])('merges a field that changed: %s', (_name, before, shipped, current, changes, kept) => {
  const as = ({ a }: { a: number }) => ({ name: `version ${a}` });
  const merged = mergeVersions(as(before), as(shipped), as(current));
  expect(merged.changes.map(({ field }) => field)).toEqual(changes);
  expect(merged.kept.map(({ field }) => field)).toEqual(kept);
});
