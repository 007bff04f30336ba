import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import { executeDueRuns } from '../runs/workers/run-loops.ts';

let aheadMs = 0;
const { newOrg, deps } = await startApp({ clock: () => new Date(Date.now() + aheadMs) });

const detection = {
  name: 'Sign-in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT 1 AS n',
  tuning: { allowLists: ['scanners'] },
};

test('creates, replaces, lists, reads and deletes a list', async () => {
  const org = await newOrg();
  const path = '/api/value-lists/scanners';
  const created = await callOk(org, 'PUT', path, { description: 'Ours', values: ['scan-*', '10.0.0.0/8', 'scan-*'] });
  expect(created).toMatchObject({ name: 'scanners', valuesTotal: 2, values: ['scan-*', '10.0.0.0/8'], usedBy: [] });
  expect(await callOk(org, 'PUT', path, { values: ['secret-host'] })).toMatchObject({
    description: '',
    valuesTotal: 1,
  });
  const { lists } = await callOk(org, 'GET', '/api/value-lists');
  expect(lists).toEqual([expect.objectContaining({ name: 'scanners', valuesTotal: 1 })]);
  expect(await callOk(org, 'GET', path)).toMatchObject({ values: ['secret-host'] });
  const other = await newOrg();
  expect((await other.call('GET', path)).status).toBe(404);
  expect((await callOk(other, 'GET', '/api/value-lists')).lists).toEqual([]);
  await callOk(org, 'DELETE', path);
  expect((await org.call('DELETE', path)).status).toBe(404);
  const audit = JSON.stringify(await callOk(org, 'GET', '/api/audit'));
  for (const action of ['created', 'changed', 'deleted']) expect(audit).toContain(`value_list.${action}`);
  expect(audit).not.toContain('secret-host');
});

test('refuses to delete a list that a detection uses', async () => {
  const org = await newOrg();
  await callOk(org, 'PUT', '/api/value-lists/scanners', { values: [] });
  const { id } = await callOk(org, 'POST', '/api/detections', detection);
  expect((await callOk(org, 'GET', '/api/value-lists/scanners')).usedBy).toEqual([id]);
  expect(await org.call('DELETE', '/api/value-lists/scanners')).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining(id) },
  });
  await callOk(org, 'PUT', `/api/detections/${id}`, { tuning: {} });
  await callOk(org, 'DELETE', '/api/value-lists/scanners');
});

test.each([
  ['Scanners', { values: [] }, 'path/name'],
  ['scanners', { values: [''] }, '/values/0'],
  ['scanners', { values: Array.from({ length: 10_001 }, String) }, '/values'],
])('rejects an invalid list %s', async (name, body, pointer) => {
  const org = await newOrg();
  expect(await org.call('PUT', `/api/value-lists/${name}`, body)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer }] },
  });
});

const csv = 'cidr,Site\n10.20.0.0/16,oslo\n192.0.2.0/24,"Bergen, lab"\n10.20.0.0/16,oslo\n';

test('keeps a table that was sent as rows or as CSV, and refuses what is incomplete', async () => {
  const org = await newOrg();
  const path = '/api/value-lists/assets';
  const columns = ['user', 'department', 'is_admin'];
  const rows = [
    ['ada', 'research', 'true'],
    ['bob', '', 'false'],
  ];
  expect(await callOk(org, 'PUT', path, { columns, rows })).toMatchObject({ columns, rows, values: ['ada', 'bob'] });
  expect(await callOk(org, 'PUT', path, { csv })).toMatchObject({
    columns: ['cidr', 'site'],
    valuesTotal: 2,
    rows: [
      ['10.20.0.0/16', 'oslo'],
      ['192.0.2.0/24', 'Bergen, lab'],
    ],
  });
  for (const [body, pointer] of [
    [{}, '/values'],
    [{ values: ['a'], csv }, '/values'],
    [{ rows }, '/columns'],
    [{ columns, rows: [['ada']] }, '/rows/0'],
    [{ columns: ['a', 'a'], rows: [['1', '2']] }, '/columns'],
    [{ columns: ['a', 'b'], rows: [['', '2']] }, '/rows/0/0'],
    [{ csv: 'a b,"c\n1,2' }, '/csv'],
    [{ csv: 'a,b\n1' }, '/csv'],
    [{ csv: '1.2.3.4,x\n1.2.3.5,y' }, '/csv'],
    [{ source: { url: 'ftp://lists.example/a.csv' } }, '/source/url'],
  ] as const)
    expect(await org.call('PUT', path, body), JSON.stringify(body)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer }] },
    });
});

test('queries join events with lists, and exceptions mute what is in one', async () => {
  const org = await newOrg();
  const search = async (query: string) =>
    org.call('POST', '/api/logs/search', { query, from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' });
  await callOk(org, 'PUT', '/api/value-lists/people', { csv: 'user,department\nada,research\nbob,\n' });
  await callOk(org, 'PUT', '/api/value-lists/office-networks', { csv });
  await callOk(
    org,
    'POST',
    '/api/logs/auth',
    ['ada', 'bob', 'eve'].map((who, n) => ({ timestamp: '2026-05-01T10:00:00Z', who, ip: `10.20.0.${n}`, n: `x${n}` })),
  );
  expect(
    (
      await search(`SELECT who, user, department, o.site FROM auth LEFT JOIN lists.people ON user = who
        JOIN lists."office-networks" o ON cidr_match(ip, o.cidr) WHERE TRY_CAST(n AS INTEGER) IS NULL ORDER BY who`)
    ).body.rows,
  ).toEqual([
    { who: 'ada', user: 'ada', department: 'research', site: 'oslo' },
    { who: 'bob', user: 'bob', department: null, site: 'oslo' },
    { who: 'eve', user: null, department: null, site: 'oslo' },
  ]);
  expect((await search('SELECT count(*) AS n FROM LISTS.People;')).body.rows).toEqual([{ n: 2 }]);
  for (const [query, detail] of [
    ['SELECT * FROM lists.nothing', 'The value list nothing does not exist'],
    ['SELECT lists.people.user FROM lists.people', 'Write people.user instead'],
    ['SELECT * FROM temp."lists.people"', 'is not allowed'],
    ['SELECT * FROM "lists.people"', 'is not a valid dataset name'],
    ['SELECT * FROM other.people', 'is not allowed'],
  ])
    expect(await search(query!)).toMatchObject({ status: 422, body: { detail: expect.stringContaining(detail!) } });
  const other = await newOrg();
  const theirs = { query: 'SELECT * FROM lists.people', from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' };
  expect((await other.call('POST', '/api/logs/search', theirs)).status).toBe(422);
  const { id } = await callOk(org, 'POST', '/api/detections', {
    ...detection,
    tuning: {},
    detectionQuery: "SELECT _id, _time, who AS user, ip FROM auth WHERE n = 'new'",
    detectionCadence: 'hourly',
    entityField: 'user',
  });
  const exceptions = `/api/detections/${id}/exceptions`;
  expect((await org.call('POST', exceptions, { list: 'none', reason: 'x' })).body.errors[0].pointer).toBe('/list');
  const made = await callOk(org, 'POST', exceptions, { field: 'ip', list: 'office-networks', reason: 'ours' });
  expect(made).toMatchObject({ field: 'ip', value: null, list: 'office-networks' });
  expect((await callOk(org, 'GET', '/api/value-lists/office-networks')).usedBy).toEqual([id]);
  await callOk(org, 'POST', exceptions, { list: 'people', reason: 'known' });
  const arriving = [
    ['ada', '203.0.113.5'],
    ['zoe', '10.20.0.9'],
    ['eve', '203.0.113.5'],
  ].map(([who, ip]) => ({ timestamp: deps.clock(), who, ip, n: 'new' }));
  await callOk(org, 'POST', '/api/logs/auth', arriving);
  aheadMs += 3_600_000;
  await executeDueRuns(deps, deps.clock(), { skipWaiting: true });
  const { hits } = await callOk(org, 'GET', '/api/hits');
  expect(hits.map(({ entity }: { entity: string }) => entity)).toEqual(['eve']);
});
