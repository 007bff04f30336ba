import { beforeAll, expect, test } from 'vitest';
import { inOrg, queryRows } from '../../../platform/db/db.ts';
import { failureOf, startLogStore } from '../../../../test/support/detection/log-store.ts';
import { compactSegments } from '../../log-compaction/compact-segments.ts';
import { searchLogs } from './search-logs.ts';

const compaction = { filesMin: 1, filesMax: 50, bytesMax: 10_000_000, rowsMax: 1_000_000, hourRowsMin: 1 };

const store = await startLogStore();
const secret = 'S3CRET-7';
const hidden = { datasets: ['Payroll'], fields: ['SSN', 'user.ssn'] };
const window = {
  from: new Date('2024-06-01T00:00:00Z'),
  to: new Date('2024-06-02T00:00:00Z'),
  clock: 'event' as const,
};
const limits = { rowsMax: 100, groupsMax: 100, timeoutMs: 20_000, hidden };

let org: Awaited<ReturnType<typeof store.newOrg>>;
const search = (query: string) => searchLogs(store.deps, org, { query, window, limits });

beforeAll(async () => {
  org = await store.newOrg();
  store.at('2024-06-01T12:00:00Z');
  await store.send(org, 'payroll', [{ amount: 5, time: '2024-06-01T10:00:00Z' }]);
  await store.send(org, 'auth', [
    { ip: '10.0.0.1', ssn: secret, user: { name: 'ada', ssn: secret }, time: '2024-06-01T10:00:00Z' },
    {
      ip: '10.0.0.2',
      Ssn: secret,
      user: { name: 'bob', SSN: secret, home: { city: 'x' } },
      time: '2024-06-01T11:00:00Z',
    },
    { ip: '10.0.0.3', user: [{ ssn: secret }], time: '2024-06-01T11:00:00Z' },
  ]);
});

/** Ways to read a field without its name, or through what contains it. */
const detours = [
  'SELECT * FROM auth',
  'SELECT _event FROM auth',
  'SELECT _text FROM auth',
  'SELECT user FROM auth',
  'SELECT _text.user FROM auth',
  'SELECT auth FROM auth',
  'SELECT to_json(auth) FROM auth',
  "SELECT COLUMNS(c -> c LIKE 's%n' OR c = 'ip') FROM auth",
  'SELECT a, b, c, d, e, f FROM (SELECT * FROM auth) AS t(a, b, c, d, e, f)',
  'SELECT json_transform(_event, \'{"ssn": "VARCHAR"}\') FROM auth',
  "SELECT json_extract(_event, '$.*') FROM auth",
  "SELECT json_extract_string(_event, '$.s' || 'sn') FROM auth",
  "SELECT json_extract_string(user, 's' || 'sn') FROM auth",
  'SELECT * FROM auth NATURAL JOIN (SELECT * FROM auth)',
];

async function expectHidden(): Promise<void> {
  for (const query of detours) {
    const found = await search(query).catch((error: Error) => ({ rows: [error.message] }));
    expect(JSON.stringify([query, found.rows])).not.toContain(secret);
  }
  expect((await search('SELECT ip, user.name AS name FROM auth ORDER BY ip')).rows).toMatchObject([
    { ip: '10.0.0.1', name: 'ada' },
    { ip: '10.0.0.2', name: 'bob' },
    { ip: '10.0.0.3', name: null },
  ]);
  // A condition on all text of an event answers nothing about what is hidden in it.
  expect((await search(`SELECT ip FROM auth WHERE _text LIKE '%${secret}%'`)).rows).toEqual([]);
}

test('no query of text segments reaches a hidden field', expectHidden);

test('no query of compacted segments reaches a hidden field', async () => {
  while (await compactSegments(store.deps, compaction));
  const formats = await inOrg(
    store.deps.db,
    org,
    (tx) => queryRows(tx)`select distinct format from segments where replaced_at is null`,
  );
  expect(formats).toEqual([{ format: 'typed' }]);
  await expectHidden();
});

test('a query that names what is hidden is refused with the reason', async () => {
  for (const query of [
    'SELECT ssn FROM auth',
    'SELECT ip FROM auth a WHERE a.Ssn IS NOT NULL',
    'SELECT user.ssn FROM auth',
    "SELECT _event->>'$.user.ssn' FROM auth",
  ])
    expect((await failureOf(search(query))).message).toMatch(/^The organization keeps the field .*ssn from models/i);
  expect(await failureOf(search('SELECT * FROM payroll'))).toMatchObject({
    kind: 'query_not_allowed',
    message: 'The organization keeps the dataset payroll from models.',
  });
});
