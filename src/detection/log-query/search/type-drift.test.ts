import { expect, test } from 'vitest';
import { failureOf, startLogStore } from '../../../../test/support/detection/log-store.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { compactSegments } from '../../log-compaction/compact-segments.ts';
import { listDatasets } from '../datasets/list-datasets.ts';
import { checkLogsQuery } from './search-logs.ts';

const store = await startLogStore();
const { send, search } = store;

const events = [
  {
    n: 1,
    mfa: true,
    bytes: 2_000_000,
    ratio: 0.5,
    seen: '2024-05-01T00:00:00Z',
    user: { name: 'ana', id: 7 },
    tags: ['x'],
  },
  {
    n: 2,
    mfa: false,
    bytes: 5,
    ratio: 1.5,
    seen: '2024-05-02T00:00:00Z',
    user: { name: 'bo', id: 8 },
    tags: ['x', 'y'],
  },
  {
    n: 3,
    mfa: true,
    bytes: 3_000_000,
    ratio: 2.25,
    seen: '2024-05-03T00:00:00Z',
    user: { name: 'cy', id: 9 },
    tags: [],
  },
];
const clean = [0, 3, 6, 9].flatMap((more) => events.map((event) => ({ ...event, n: event.n + more })));
const poison: Record<string, unknown>[] = [
  { mfa: 'unknown', bytes: 'none', ratio: '-', seen: 'yesterday', user: 'x', tags: 'x' },
  { mfa: 2, bytes: 1.5, ratio: 'nan', seen: 'infinity', user: ['x'], tags: { a: 1 } },
  { mfa: {}, bytes: 2 ** 70, ratio: 'inf', seen: 5, user: { name: { first: 'x' }, id: 'none' }, tags: [{}] },
  { mfa: [true], bytes: true, ratio: [1], seen: null, user: 5, tags: 5 },
  { MFA: 'unknown', Bytes: 'none', RATIO: {}, SEEN: {}, User: 'x', Tags: 'x' },
];
const queries = [
  'SELECT n FROM d WHERE NOT mfa ORDER BY n',
  'SELECT n FROM d WHERE mfa ORDER BY n',
  'SELECT n, bytes / 1e6 AS mb, bytes & 4 AS f FROM d WHERE bytes > 1000000 AND n > 0 ORDER BY n',
  'SELECT sum(bytes) AS b, avg(ratio) AS r, max(ratio) AS m, count(seen) AS a FROM d WHERE n IS NOT NULL',
  "SELECT n FROM d WHERE seen >= TIMESTAMP '2024-05-02' ORDER BY n",
  "SELECT n, date_trunc('month', seen) AS month FROM d WHERE n < 9 ORDER BY n",
  'SELECT user.name, user.id + 1 AS id FROM d WHERE user.id > 7 ORDER BY 1',
  "SELECT n FROM d WHERE list_contains(tags, 'y')",
  'SELECT mfa, count(*) AS c FROM d WHERE n > 0 GROUP BY mfa ORDER BY 1',
  'SELECT a.n FROM d a JOIN d b ON a.bytes = b.bytes WHERE b.n > 0 ORDER BY 1',
  'SELECT n, row_number() OVER (ORDER BY bytes) AS r FROM d WHERE n > 0 ORDER BY n',
  'WITH c AS (SELECT * FROM d) SELECT n FROM c WHERE bytes BETWEEN 4 AND 6',
  "SELECT n, CASE WHEN mfa THEN 'yes' ELSE 'no' END AS m FROM d WHERE n > 0 ORDER BY n",
  'SELECT n FROM d WHERE bytes IN (5, 6) OR user.id = 9 ORDER BY n',
];
const limits = { filesMin: 2, filesMax: 50, bytesMax: 10_000_000, rowsMax: 1_000_000, hourRowsMin: 1 };
const compactAll = async (): Promise<void> => {
  while (await compactSegments(store.deps, limits));
};
const answer = async (org: OrgId): Promise<unknown[]> =>
  Promise.all(queries.map(async (query) => (await search(org, query)).rows));

const expected = await (async () => {
  const org = await store.newOrg();
  await send(org, 'd', clean);
  return answer(org);
})();

test.each([
  ['text', async () => undefined],
  ['Parquet', compactAll],
])('one event with values of other types changes no result: %s', async (_, afterBatch) => {
  const org = await store.newOrg();
  await send(org, 'd', clean);
  for (const event of poison) {
    await send(org, 'd', [event]);
    await afterBatch();
    expect(await answer(org)).toEqual(expected);
  }
});

test('odd first values of a column do not last, and queries run meanwhile', async () => {
  const org = await store.newOrg();
  await send(org, 'd', [poison[0]]);
  const counts: number[] = [];
  for (const event of clean) {
    await send(org, 'd', [event]);
    counts.push((await search(org, queries[0]!)).rows.length);
    if (counts.length === 4) await answer(org);
  }
  expect(counts).toEqual([0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4]);
  expect(await answer(org)).toEqual(expected);
  const [types] = (await search(org, 'SELECT typeof(mfa) AS mfa, typeof(bytes) AS bytes FROM d LIMIT 1')).rows;
  expect(types).toEqual({ mfa: 'BOOLEAN', bytes: 'BIGINT' });
});

test('a value that does not fit stays reachable as text and in the event', async () => {
  const org = await store.newOrg();
  await send(org, 'd', clean);
  await send(org, 'd', poison);
  for (const afterBatch of [async () => undefined, () => send(org, 'd', clean).then(compactAll)]) {
    await afterBatch();
    const { rows, warnings } = await search(
      org,
      "SELECT bytes, _text.bytes AS text, d._text.USER.id AS id, _event->>'$.bytes' AS raw FROM d WHERE n IS NULL ORDER BY _id",
    );
    expect(rows.map(({ text }) => text).toSorted()).toEqual(
      ['1.1805916207174113e21', '1.5', 'none', 'none', 'true'].toSorted(),
    );
    expect(rows.filter(({ text }) => text === 'none').map(({ bytes }) => bytes)).toEqual([null, null]);
    expect(rows.filter(({ id }) => id === 'none')).toHaveLength(1);
    expect(rows.filter(({ raw }) => raw === 'none')).toHaveLength(2);
    expect(warnings).toEqual([{ code: 'type_drift', detail: expect.stringContaining('of d.bytes') }]);
  }
});

test('a conversion that fails on a row is null there and reported', async () => {
  const org = await store.newOrg();
  await send(org, 'd', [
    { n: 1, port: '80', big: 9_000_000_000_000_000 },
    { n: 2, port: 'http', big: 3 },
  ]);
  const failing: [string, unknown[]][] = [
    [
      'SELECT n, CAST(port AS INT) AS p FROM d ORDER BY n',
      [
        { n: 1, p: 80 },
        { n: 2, p: null },
      ],
    ],
    ['SELECT n FROM d WHERE port::INT < 1024', [{ n: 1 }]],
    ["SELECT n FROM d WHERE port > 70 OR port = 'http' ORDER BY n", [{ n: 1 }, { n: 2 }]],
    ['SELECT sum(port) AS s, count(*) AS c FROM d', [{ s: 80, c: 2 }]],
    [
      'SELECT n, big * big AS b FROM d ORDER BY n',
      [
        { n: 1, b: null },
        { n: 2, b: 9 },
      ],
    ],
    [
      "SELECT n, strptime(port, '%H') AS t FROM d ORDER BY n",
      [
        { n: 1, t: null },
        { n: 2, t: null },
      ],
    ],
    [
      'SELECT upper(n) AS u, lower(port) FROM d ORDER BY 1',
      [
        { u: '1', 'lower(port)': '80' },
        { u: '2', 'lower(port)': 'http' },
      ],
    ],
    ["SELECT n FROM d WHERE n = 'x'", []],
  ];
  for (const [query, rows] of failing) {
    const result = await search(org, query);
    expect(result.rows, query).toEqual(rows);
    expect(result.warnings, query).toMatchObject([{ code: 'failed_values' }]);
  }
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT sum(port) FROM d'))).toMatchObject({
    kind: 'query_error',
    blame: 'author',
    dependsOnData: true,
  });
  expect(await failureOf(search(org, 'SELECT (SELECT port FROM d) AS p FROM d'))).toMatchObject({
    kind: 'data_error',
    blame: 'data',
    retryable: false,
  });
});

test('a dataset counts the values that do not fit, by column', async () => {
  const org = await store.newOrg();
  await send(org, 'd', clean);
  await send(org, 'd', [poison[0]]);
  await send(org, 'd', [poison[3]]);
  const { datasets } = await listDatasets(store.deps, org);
  const drifted = datasets[0]!.columns
    .filter(({ drift }) => drift)
    .map(({ name, drift }) => [name, drift!.count, drift!.valueType]);
  expect(drifted).toEqual([
    ['mfa', 2, 'array'],
    ['bytes', 2, 'boolean'],
    ['ratio', 2, 'array'],
    ['seen', 1, 'string'],
    ['user', 2, 'number'],
    ['tags', 2, 'number'],
  ]);
});

const junk = (count: number, prefix = 'junk') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]));

test('counts and reports values that a batch hides behind more keys than are observed', async () => {
  const org = await store.newOrg();
  await send(org, 'd', clean);
  await send(org, 'd', [{ ...junk(1_200), BYTES: 'none' }]);
  await send(org, 'd', [{ ...junk(1_200, 'more'), user: { ...junk(200), id: 'none' } }]);
  await send(org, 'd', [{ user: { ...junk(200, 'other'), Id: 'none' } }]);
  const warnings = async (query: string) => (await search(org, query)).warnings!.map(({ detail }) => detail);
  expect(await warnings('SELECT n FROM d WHERE bytes > 5')).toEqual([expect.stringContaining('1 of d.bytes.')]);
  expect(await warnings('SELECT n FROM d WHERE user.id > 5')).toEqual([expect.stringContaining('2 of d.user.id.')]);
  expect(await warnings('SELECT n FROM d WHERE mfa')).toEqual([]);
  const { columns } = (await listDatasets(store.deps, org)).datasets[0]!;
  expect(columns.filter(({ drift }) => drift).map(({ name }) => name)).toEqual(['bytes', 'user.id']);
  expect(await answer(org)).toEqual(expected);
});

test('warns about each of many columns with values that do not fit', async () => {
  const org = await store.newOrg();
  const columns = Object.keys(junk(300));
  await send(
    org,
    'd',
    Array.from({ length: 6 }, () => junk(300)),
  );
  const bad = Object.fromEntries(columns.map((name) => [name, 'x']));
  await send(org, 'd', [bad, { ...bad, junk299: 5 }]);
  for (const afterBatch of [async () => undefined, compactAll]) {
    await afterBatch();
    for (const name of ['junk0', 'junk299'])
      expect((await search(org, `SELECT ${name} FROM d WHERE ${name} > 3`)).warnings).toMatchObject([
        { code: 'type_drift' },
      ]);
  }
});
