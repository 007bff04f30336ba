import { expect, test, vi } from 'vitest';
import { startLogStore } from '../../../../test/support/detection/log-store.ts';
import type { QueryWindow, SearchLimits, SearchResult, SharedRequest } from '../../siem/connector.ts';
import { compactSegments } from '../../log-compaction/compact-segments.ts';
import { localConnection } from '../local-connection.ts';

const store = await startLogStore();
const org = await store.newOrg();
const limits: SearchLimits = { rowsMax: 100, groupsMax: 10, timeoutMs: 30_000 };
const hour = (n: number): Date => new Date(Date.UTC(2024, 5, 1, n));
const signal = new AbortController().signal;
const { search, searchTogether } = localConnection(store.deps, org);

const event = (n: number, at: Date) => ({
  time: at.toISOString(),
  n,
  user: `u${n % 7}`,
  bytes: n % 31 === 30 ? 'none' : n,
  status: n % 10 === 9 ? 'failed' : '200',
  who: { name: `ana ${n % 3}` },
});

// The first two hours are compacted to Parquet. In the third, events of two hours before arrive late.
for (const n of [1, 2, 3, 4]) {
  store.at(hour(n).toISOString());
  const events = Array.from({ length: 20 }, (_, i) => event(n * 20 + i, hour(n)));
  await store.send(org, 'web', n === 3 ? [...events, event(900, hour(1))] : events);
  if (n === 2) for (let runs = 0; runs < 10 && (await compactSegments(store.deps)); runs++);
  await store.send(org, 'users', [{ time: hour(n).toISOString(), user: `u${n}`, team: 'blue' }]);
}
store.at(hour(9).toISOString());

/** The window of a slot of a detection that was created at `since`. */
const slot = (n: number, since: Date, more: Partial<QueryWindow> = {}): QueryWindow => ({
  from: new Date(hour(n).getTime() - 1_800_000),
  to: new Date(hour(n).getTime() + 1_800_000),
  clock: 'slot',
  ingestedBefore: new Date(hour(n).getTime() + 1_800_000),
  lateSince: since,
  ...more,
});

const shared = [
  'SELECT * FROM web',
  'SELECT n, _time, _id, _ingested FROM web WHERE n % 2 = 0 ORDER BY n DESC LIMIT 3',
  'SELECT count(*) AS n FROM web',
  'SELECT "user", sum(TRY_CAST(bytes AS INT)) AS bytes, min(status) AS s FROM web GROUP BY ALL ORDER BY ALL',
  'SELECT n, $window_start AS w FROM web WHERE _time >= $window_start;',
  'SELECT w.n, u.team FROM web w LEFT JOIN users u USING ("user") ORDER BY n, team',
  'SELECT n, _text.bytes AS b, who.name, nothing.deep, _event FROM web',
  'SELECT n, missing, coalesce(missing, other) AS x FROM web',
  'SELECT _id, n, _text FROM web',
  "SELECT _id FROM web WHERE status = 'none of them'",
  'SELECT _id, gone FROM web WHERE gone = 1',
  'SELECT team FROM users',
  'SELECT a FROM never',
  'SELECT typeof(_event) AS t, typeof(n) AS n, typeof(bytes) AS b, typeof(_time) AS w FROM web',
];
const alone = [
  'SELECT n FROM web WHERE n NOT IN (SELECT n FROM web_history)',
  'SELECT n FROM web UNION ALL SELECT n FROM empty_set',
  'SELECT nonsense(n) FROM web',
  'SELECT n FROM',
];
/** Fail in the windows with a value that is no number, and with more rows than the limit. */
const failing = ['SELECT n, CAST(status AS INT) AS s FROM web', 'SELECT a.n FROM web a, web b'];
const requestAll = (window: QueryWindow): SharedRequest[] =>
  [...shared, ...failing, ...alone].map((query) => ({ query, window, arrival: { from: window.from, to: window.to } }));
const withoutTime = (result: SearchResult) => ({ ...result, ms: 0 });

test.each<[name: string, windows: QueryWindow[], late: boolean]>([
  ['text files', [slot(4, hour(0))], false],
  ['Parquet files', [slot(1, hour(0)), slot(2, hour(0))], false],
  [
    'detections of several ages and late events',
    [slot(3, hour(0)), slot(3, hour(2)), slot(3, hour(2), { earlierApart: true })],
    true,
  ],
  ['windows without events', [slot(6, hour(0)), slot(6, hour(2), { earlierApart: true })], false],
])('queries have the same results together and one by one: %s', async (_, windows, isLate) => {
  const requests = windows.flatMap(requestAll);
  const results = new Map<number, SearchResult>();
  // The second time, the columns that no event has are known.
  for (const _round of [1, 2]) {
    const found = await searchTogether!(requests, limits, signal);
    for (const [index, { query, window }] of requests.entries()) {
      if (alone.includes(query)) expect(found[index], query).toBeUndefined();
      if (alone.includes(query) || (failing.includes(query) && !found[index])) continue;
      const expected = results.get(index) ?? (await search(query, window, limits, signal));
      results.set(index, expected);
      expect(withoutTime(found[index]!.result), query).toEqual(withoutTime(expected));
      expect(found[index]!.hasLate, query).toBe(isLate && query.includes('web'));
    }
  }
});

test('a window without events needs no engine once the columns of its queries are known', async () => {
  const query = 'SELECT _id, n, absent FROM web WHERE n = 1';
  const filters = [query, `${query} OR n = 2`].map((text, n) => ({
    query: text,
    window: slot(5 + n, hour(0)),
    arrival: null,
  }));
  const batch = vi.spyOn(store.deps.engine, 'batch');
  await searchTogether!(filters, limits, signal);
  expect(batch).toHaveBeenCalled();
  batch.mockClear();
  const again = filters.map((one) => ({ ...one, window: slot(7, hour(0)) }));
  const found = await searchTogether!(again, limits, signal);
  expect(found.map((one) => one?.result.warnings?.map(({ code }) => code))).toEqual([
    ['unknown_column'],
    ['unknown_column'],
  ]);
  expect(batch).not.toHaveBeenCalled();
  batch.mockRestore();
});

test('a window whose events have not the texts of a query needs no engine, whichever organization has run it', async () => {
  const other = await store.newOrg();
  store.at(hour(4).toISOString());
  await store.send(other, 'logins', [{ user: 'ana', outcome: 'success', code: 'x5' }]);
  await store.send(org, 'logins', [{ user: 'bo', outcome: 'denied', code: 'x5' }]);
  store.at(hour(9).toISOString());
  const query = (outcome: string) => `SELECT _id, "user" FROM logins WHERE outcome = '${outcome}' AND code <> 'x4'`;
  const requests = ['denied', 'locked'].map((outcome) => ({
    query: query(outcome),
    window: slot(4, hour(0)),
    arrival: null,
  }));
  const own = await searchTogether!(requests, limits, signal);
  expect(own.map((one) => one?.result.total)).toEqual([1, 0]);
  const batch = vi.spyOn(store.deps.engine, 'batch');
  const others = await localConnection(store.deps, other).searchTogether!(requests, limits, signal);
  expect(others.map((one) => one?.result.total)).toEqual([0, 0]);
  expect(others[0]!.result.columns).toEqual(['_id', 'user']);
  expect(batch).not.toHaveBeenCalled();
  await searchTogether!(requests, limits, signal);
  expect(batch.mock.calls.map(([, { queries }]) => queries.length)).toEqual([1]);
  batch.mockRestore();
});

test('a slow query has no result, and the others have theirs', async () => {
  const window = slot(4, hour(0));
  const slow = 'SELECT count(*) AS n FROM web a, web b, web c, web d, web e, web f, web g, web h, web i, web j';
  const requests = [shared[0]!, slow, shared[2]!].map((query) => ({ query, window, arrival: null }));
  const found = await searchTogether!(requests, limits, signal);
  expect(found.map((one) => one?.result.total)).toEqual([20, undefined, 1]);
});
