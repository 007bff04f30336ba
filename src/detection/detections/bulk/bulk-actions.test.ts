import { expect, test } from 'vitest';
import { callOk, postDetection } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { measureLongestTurn } from '../../../../test/support/longest-turn.ts';

const { newOrg } = await startApp();
const create = (org: TestOrg, more: object = {}) => postDetection(org, { name: 'One', ...more });
const bulk = (org: TestOrg, request: object) => callOk(org, 'POST', '/api/detections/bulk', request);
const outcomes = ({ results }: { results: { outcome: string; code: string | null }[] }) =>
  results.map(({ outcome, code }) => code ?? outcome);
const records = async (org: TestOrg) => (await callOk(org, 'GET', '/api/detections')).detections;

test('returns a result for each detection, and changes nothing in a dry run', async () => {
  const org = await newOrg();
  const scheduled = await create(org, { detectionCadence: 'hourly', tags: ['a'] });
  const bare = await create(org, { name: 'Two' });
  const otherOrg = await create(await newOrg());
  const ids = [scheduled.id, bare.id, otherOrg.id];
  const before = await records(org);
  for (const action of ['enable', 'disable', 'delete']) await bulk(org, { action, ids, dryRun: true });
  expect(await records(org)).toEqual(before);
  const audit = (await callOk(org, 'GET', '/api/audit')).entries.length;
  expect(outcomes(await bulk(org, { action: 'enable', ids, dryRun: true }))).toEqual([
    'unchanged',
    expect.stringMatching(/\w/),
    'not_found',
  ]);
  expect((await callOk(org, 'GET', '/api/audit')).entries).toHaveLength(audit);
  expect(outcomes(await bulk(org, { action: 'tag', ids, tags: ['B', 'a'] }))).toEqual([
    'changed',
    'changed',
    'not_found',
  ]);
  expect((await records(org)).map(({ tags }: { tags: string[] }) => tags)).toEqual([
    ['b', 'a'],
    ['a', 'b'],
  ]);
  expect(outcomes(await bulk(org, { action: 'untag', filter: { tag: 'b' }, tags: ['b'] }))).toEqual([
    'changed',
    'changed',
  ]);
  expect(outcomes(await bulk(org, { action: 'disable', filter: { enabled: 'true' } }))).toEqual(['changed']);
  expect(outcomes(await bulk(org, { action: 'delete', filter: {} }))).toEqual(['changed', 'changed']);
  expect(await records(org)).toEqual([]);
  expect(outcomes(await bulk(org, { action: 'restore', ids: ids.slice(0, 2) }))).toEqual(['changed', 'changed']);
  expect(await records(org)).toHaveLength(2);
});

test.each([
  [{ action: 'enable' }, '/ids'],
  [{ action: 'enable', ids: ['x'] }, '/ids/0'],
  [{ action: 'enable', ids: [], filter: {} }, '/ids'],
  [{ action: 'tag', filter: {} }, '/tags'],
  [{ action: 'explode', filter: {} }, '/action'],
  [{ action: 'enable', filter: { color: 'red' } }, '/filter/color'],
])('rejects invalid bulk request %#', async (request, pointer) => {
  const response = await (await newOrg()).call('POST', '/api/detections/bulk', request);
  expect([response.status, response.body.errors?.[0]?.pointer]).toEqual([400, pointer]);
});

test('imports an export into another organization, and changes nothing the second time', async () => {
  const from = await newOrg();
  const full = await create(from, {
    detectionCadence: 'daily',
    enabled: false,
    tags: ['x'],
    entityField: 'user',
    lookbackMinutes: 10_000,
    suppressionMinutes: 0,
    structuredOutputSchema: { type: 'object' },
    inputs: [{ type: 'text', name: 'n' }],
  });
  await create(from, { name: 'Two', siemType: 'splunk' });
  const set = { tests: [{ name: 't', events: [{ a: 1 }], expect: [] }], localQuery: 'SELECT 2' };
  await callOk(from, 'PUT', `/api/detections/${full.id}/tests`, set);
  const { detections } = await callOk(from, 'GET', '/api/detections/export');
  expect(detections.map(({ name }: { name: string }) => name)).toEqual(['One', 'Two']);
  expect(detections[0]).toMatchObject(set);

  const to = await newOrg();
  const load = (items: unknown[], dryRun = false) =>
    callOk(to, 'POST', '/api/detections/import', { detections: items, dryRun });
  expect(outcomes(await load(detections, true))).toEqual(['created', 'created']);
  expect(await records(to)).toEqual([]);
  expect(outcomes(await load(detections))).toEqual(['created', 'created']);
  const strip = (one: object) => ({ ...one, id: undefined });
  const reexported = (await callOk(to, 'GET', '/api/detections/export')).detections;
  expect(reexported.map(strip)).toEqual(detections.map(strip));
  expect(outcomes(await load(detections))).toEqual(['unchanged', 'unchanged']);
  const changed = [{ ...reexported[0], name: 'Renamed' }, { ...reexported[1], tests: set.tests }, { name: 'No query' }];
  expect(outcomes(await load(changed, true))).toEqual(['updated', 'updated', 'validation_failed']);
  expect((await records(to)).map(({ name }: { name: string }) => name)).toEqual(['Two', 'One']);
  expect(outcomes(await load(changed))).toEqual(['updated', 'updated', 'validation_failed']);
  expect((await records(to)).map(({ name }: { name: string }) => name)).toEqual(['Two', 'Renamed']);
  await callOk(to, 'DELETE', `/api/detections/${reexported[0].id}`);
  expect(outcomes(await load([changed[0]]))).toEqual(['conflict']);
});

test('lets other requests run while it imports', async () => {
  const org = await newOrg();
  const junk = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`field${n}`, 1]));
  const body = JSON.stringify({ detections: Array.from({ length: 200 }, () => junk) });
  const { result, share } = await measureLongestTurn(() => callOk(org, 'POST', '/api/detections/import', body));
  expect(share, 'processor time between two turns of the event loop').toBeLessThan(1 / 3);
  for (const { detail } of result.results) expect(detail.length).toBeLessThanOrEqual(500);
});

test('refuses more detections than a body may hold', async () => {
  const body = { detections: Array.from({ length: 500_000 }, () => ({})) };
  const response = await (await newOrg()).call('POST', '/api/detections/import', body);
  expect(response.status).toBe(400);
  expect(response.body.errors).toEqual([expect.objectContaining({ pointer: '/detections', code: 'too_many' })]);
});
