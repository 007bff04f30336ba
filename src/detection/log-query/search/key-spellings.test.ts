import { expect, test } from 'vitest';
import { startLogStore } from '../../../../test/support/detection/log-store.ts';

const store = await startLogStore();
const { send, search } = store;

const usual = Array.from({ length: 12 }, (_, n) => ({
  n,
  mfa: true,
  user: { name: 'ana', role: { Name: 'dev' } },
  list: [{ ip: '192.0.2.1' }],
  count: { n },
}));

/** Queries that find the event `n` = 100 only if they read its keys in any case. */
const queries = [
  'SELECT n FROM d WHERE NOT mfa',
  "SELECT n FROM d WHERE (_event->>'$.mfa') = 'false'",
  "SELECT n FROM d WHERE json_extract_string(_event, '$.mfa') = 'false'",
  "SELECT n FROM d WHERE json_extract(_event, '/mfa') = 'false'",
  "SELECT n FROM d WHERE (_event->>'mfa') = 'false'",
  "SELECT n FROM d WHERE NOT CAST(_event->'mfa' AS BOOLEAN)",
  "SELECT n FROM d WHERE (d._event->>'$.user.name') = 'eve'",
  `SELECT n FROM d WHERE (_event->>'$."user"."name"') = 'eve'`,
  "SELECT n FROM d WHERE (_event->'$.user'->>'$.name') = 'eve'",
  "SELECT n FROM d WHERE (user->>'name') = 'eve'",
  "SELECT n FROM d WHERE (user->'role'->>'$.Name') = 'admin'",
  "SELECT n FROM d WHERE json_value(_event, '$.user.role.Name') = '\"admin\"'",
  "SELECT n FROM d WHERE json_extract_string(_event, ['$.none', '$.user.role.Name'])[2] = 'admin'",
  "SELECT n FROM d WHERE (_event->>['$.user.name', '$.n'])[1] = 'eve'",
  "SELECT n FROM d WHERE (_event->>'$.LIST[0].ip') = '192.0.2.9'",
  "SELECT n FROM d WHERE json_exists(_event, '$.extra.x')",
  "WITH e AS (SELECT n, _event AS event FROM d) SELECT n FROM e WHERE (event->>'$.user.name') = 'eve'",
  "SELECT n FROM d WHERE list_transform([_event], lambda e: e->>'$.user.name') = ['eve']",
];

const shouted = {
  n: 100,
  MFA: false,
  User: { NAME: 'eve', Role: { NAME: 'admin' } },
  List: [{ ip: '192.0.2.9' }],
  Extra: { X: 1 },
};

/** More spellings of each key than a catalog lists. */
const spellings = (key: string, value: unknown): Record<string, unknown>[] =>
  Array.from({ length: 12 }, (_, n) => ({
    [[...key].map((letter, at) => ((n >> at) & 1 ? letter.toUpperCase() : letter)).join('')]: value,
  }));
const manySpellings = [
  ...spellings('mfa', true),
  ...spellings('user', {}),
  ...spellings('name', 1).map((user) => ({ user })),
  ...spellings('role', {}).map((user) => ({ user })),
];

const orgs = await Promise.all(
  [[], manySpellings].map(async (more) => {
    const org = await store.newOrg();
    await send(org, 'd', [...usual, ...more]);
    await send(org, 'd', [shouted]);
    return org;
  }),
);

test.each(queries)('matches keys in any case: %s', async (query) => {
  for (const org of orgs) expect((await search(org, query)).rows).toEqual([{ n: 100 }]);
});

test('prefers the spelling of the query, and keeps the names of columns', async () => {
  const org = await store.newOrg();
  await send(org, 'd', [
    { a: 1, A: 2, b: { c: 1 } },
    { A: 3, b: { C: 4 } },
  ]);
  const result = await search(org, "SELECT _event->>'$.A', _event->'b'->>'c' AS c FROM d ORDER BY 1");
  expect(result.columns).toEqual(["(_event ->> '$.A')", 'c']);
  expect(result.rows.map((row) => Object.values(row))).toEqual([
    ['2', '1'],
    ['3', '4'],
  ]);
});

test('finds keys in another spelling that a batch hides behind a thousand other keys', async () => {
  const org = await store.newOrg();
  await send(org, 'd', usual);
  const noise = Object.fromEntries(Array.from({ length: 1100 }, (_, n) => [`k${n}`, n]));
  const inner = Object.fromEntries(Array.from({ length: 110 }, (_, n) => [`k${n}`, n]));
  await send(org, 'd', [{ user: inner }, { user: { NAME: 'eve' } }]);
  await send(org, 'd', [noise, shouted, { ...shouted, MFA: 'unknown' }, { N: 1.5 }]);
  const [, ...others] = queries;
  const list = /LIST/;
  for (const query of others.filter((one) => !list.test(one)).slice(0, 3))
    expect((await search(org, query)).rows, query).toEqual([{ n: 100 }]);
  expect((await search(org, 'SELECT n FROM d WHERE NOT mfa')).rows).toEqual([{ n: 100 }]);
  expect((await search(org, "SELECT n FROM d WHERE user.name = 'eve'")).rows).toEqual([
    { n: null },
    { n: 100 },
    { n: 100 },
  ]);
  expect((await search(org, 'SELECT _text.mfa AS mfa FROM d WHERE n = 100 AND mfa IS NULL')).rows).toEqual([
    { mfa: 'unknown' },
  ]);
  expect((await search(org, "SELECT n FROM d WHERE _text.n = '1.5'")).rows).toEqual([{ n: 1.5 }]);
});
