import { expect, test, vi } from 'vitest';
import { failureOf, startLogStore } from '../../../../test/support/detection/log-store.ts';
import type { QueryWindow, SearchLimits, SearchResult } from '../../siem/connector.ts';
import { compactSegments } from '../../log-compaction/compact-segments.ts';
import { searchLogs } from './search-logs.ts';
import { searchLogWindows } from './search-windows.ts';

const store = await startLogStore();
const org = await store.newOrg();
const limits: SearchLimits = { rowsMax: 100, groupsMax: 5, timeoutMs: 30_000 };
const hour = (n: number): Date => new Date(Date.UTC(2024, 5, 1, n));
const now = hour(30);
const windows = Array.from({ length: 13 }, (_, n): QueryWindow => ({
  from: hour(2 * n),
  to: hour(2 * n + 2),
  clock: 'slot',
  ingestedBefore: now,
}));

const event = (n: number) => ({
  time: new Date(hour(4).getTime() + n * 7 * 60_000).toISOString(),
  n,
  user: `u${n % 7}`,
  bytes: n % 31 === 30 ? 'none' : n,
  status: n % 50 === 49 ? 'failed' : '200',
  _slot: n,
  who: { name: `ana ${n % 3}` },
});

// Two batches in time, one late, one loaded as history, and one after `now`. The first two are compacted to Parquet.
for (const [index, at] of [5, 8].entries()) {
  store.at(hour(at).toISOString());
  await store.send(
    org,
    'web',
    Array.from({ length: 8 }, (_, n) => event(index * 20 + n)),
  );
}
for (let runs = 0; runs < 10 && (await compactSegments(store.deps)); runs++);
store.at(hour(25).toISOString());
await store.send(
  org,
  'web',
  Array.from({ length: 120 }, (_, n) => event(n)),
);
await store.send(org, 'users', [{ time: event(3).time, user: 'u3', team: 'blue' }]);
await store.send(
  org,
  'web',
  Array.from({ length: 10 }, (_, n) => ({ ...event(n), n: 1000 + n })),
  { history: true },
);
store.at(hour(31).toISOString());
await store.send(org, 'web', [event(2)]);

/** Returns the result of each window, or the error at which the search ended. */
async function collect(results: AsyncIterable<SearchResult>): Promise<unknown[]> {
  const collected: unknown[] = [];
  try {
    for await (const { ms, ...result } of results) collected.push({ ...result, ms: typeof ms });
  } catch (error) {
    collected.push(await failureOf(Promise.reject(error as Error)));
  }
  return collected;
}

async function* searchEach(query: string, each: SearchLimits): AsyncGenerator<SearchResult> {
  for (const window of windows) yield await searchLogs(store.deps, org, { query, window, limits: each });
}

test.each<[query: string, isShared: boolean, changes?: Partial<SearchLimits>]>([
  ['SELECT * FROM web', true],
  ['SELECT n, _time, _id, _ingested FROM web WHERE n % 2 = 0 ORDER BY n DESC LIMIT 3', true],
  ['SELECT count(*) AS n FROM web', true],
  ['SELECT "user", sum(TRY_CAST(bytes AS INT)) AS bytes, any_value(status) AS s FROM web GROUP BY ALL', true],
  ['SELECT n, $window_start AS w FROM web WHERE _time >= $window_start;', true],
  ['SELECT n FROM web', true, { rowsMax: 4 }],
  ['SELECT w.n, u.team FROM web w LEFT JOIN users u USING ("user") ORDER BY n, team', true],
  ['SELECT n, _text.bytes AS b, who.name, nothing.deep, _event FROM web', true],
  ['SELECT n, missing, coalesce(missing, other) AS x FROM web', true],
  ['SELECT n, _text FROM web', true],
  // Windows with a value that makes the query fail are searched alone.
  ['SELECT n, CAST(status AS INT) AS s FROM web', true],
  // So are all windows of a query that reads the history or a dataset without events.
  ['SELECT n FROM web WHERE n NOT IN (SELECT n FROM web_history)', false],
  ['SELECT n FROM web UNION ALL SELECT n FROM empty_set', false],
  ['SELECT missing FROM web', true],
  ['SELECT nonsense(n) FROM web', false],
])('%s has the same results together and one by one', async (query, isShared, changes = {}) => {
  const each = { ...limits, ...changes };
  const together = vi.spyOn(store.deps.engine, 'windows');
  const results = await collect(searchLogWindows(store.deps, org, { query, windows, limits: each }));
  const jobs = together.mock.calls.length;
  together.mockRestore();
  expect(jobs > 0).toBe(isShared);
  expect(results).toEqual(await collect(searchEach(query, each)));
});

test('an aborted search of windows ends', async () => {
  const stop = new AbortController();
  const query = 'SELECT count(*) FROM web a, web b, web c, web d, web e';
  const results = searchLogWindows(store.deps, org, { query, windows, limits }, stop.signal);
  setTimeout(() => stop.abort(), 50);
  expect(await failureOf(results.next())).toMatchObject({ kind: 'cancelled' });
});
