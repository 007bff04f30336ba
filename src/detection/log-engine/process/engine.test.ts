import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { createTestFolder, failureOf } from '../../../../test/support/detection/log-store.ts';
import { exactTimes } from '../../siem/connector.ts';
import type { QueryJob } from '../queries/protocol.ts';
import { duck } from '../sql/sql-text.ts';
import type { Inspection } from '../inspection/inspection.ts';
import { createEngine, createInspectionCache, type EngineOptions, type LogEngine } from './engine.ts';

const folder = createTestFolder();
const engines: LogEngine[] = [];
const start = (options: Partial<EngineOptions> = {}): LogEngine => {
  const engine = createEngine({ directoryOf: () => folder, ...options });
  engines.push(engine);
  return engine;
};
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

/** Runs a statement in an engine and returns its rows. */
const rowsOf = async (engine: LogEngine, sql: string, organization = 'a') =>
  (await engine.query(organization, job(sql), { timeoutMs: 60_000 })).rows;

const job = (sql: string, more: Partial<QueryJob> = {}): QueryJob => ({
  sql,
  tables: [{ name: 't', sql: duck`SELECT range AS a FROM range(100)` }],
  bounds: { from: '2024-01-01T00:00:00.000Z', to: '2024-01-01T01:00:00.000Z' },
  aggregate: false,
  mode: 'rows',
  rowsMax: 1000,
  bytesMax: 1_000_000,
  ...more,
});

// This function does not check for an interrupt while it runs.
const pathological = "SELECT levenshtein(repeat('ab', 100000), repeat('ba', 100000)) FROM t";

test('kills a query that ignores interrupts, stays responsive and runs the query beside it again', async () => {
  const engine = start({ graceMs: 200 });
  await rowsOf(engine, 'SELECT 1');
  let beats = 0;
  const beat = setInterval(() => (beats += 1), 20);
  const killed = failureOf(engine.query('a', job(pathological), { timeoutMs: 300 }));
  const counting = job('SELECT count(*) AS n FROM t x, t y, t z, t w WHERE w.a < 40 AND x.a + y.a + z.a + w.a >= 0');
  const beside = engine.query('a', counting, { timeoutMs: 60_000 });
  expect(await killed).toMatchObject({ kind: 'query_timeout', blame: 'author', retryable: false });
  clearInterval(beat);
  expect(beats).toBeGreaterThan(5);
  expect((await beside).rows).toEqual([{ n: 40_000_000 }]);
});

test('an aborted signal cancels waiting and running queries', async () => {
  const engine = start({ concurrency: 1 });
  const running = new AbortController();
  const waiting = new AbortController();
  const slow = 'SELECT count(*) FROM t x, t y, t z, t w, t v, t u WHERE x.a + y.a + z.a + w.a + v.a + u.a = 3';
  const first = failureOf(engine.query('a', job(slow), { timeoutMs: 60_000, signal: running.signal }));
  const second = failureOf(engine.query('a', job(slow), { timeoutMs: 60_000, signal: waiting.signal }));
  setTimeout(() => waiting.abort(), 200);
  expect(await second).toMatchObject({ kind: 'cancelled', blame: 'service' });
  running.abort();
  expect(await first).toMatchObject({ kind: 'cancelled', blame: 'service' });
  const third = engine.query('a', job('SELECT 1'), { timeoutMs: 1000, signal: running.signal });
  expect(await failureOf(third)).toMatchObject({ kind: 'cancelled' });
});

test('fails a query that needs too much memory and answers the next one', async () => {
  const engine = start({ memoryMb: 64, residentMb: 400 });
  for (const sql of [
    'SELECT list(a ORDER BY a)[1] FROM (SELECT x.a * y.a * z.a AS a FROM t x, t y, t z, t w)',
    "SELECT length(repeat('x', 1500000 * 1000)) FROM t",
  ]) {
    const failure = await failureOf(engine.query('a', job(sql), { timeoutMs: 60_000 }));
    expect(failure).toMatchObject({ kind: 'query_memory', blame: 'author' });
  }
  expect(await rowsOf(engine, 'SELECT 1 AS x')).toEqual([{ x: 1 }]);
});

test('does not blame a query for memory that the queries beside it use', async () => {
  const engine = start({ memoryMb: 64, residentMb: 400 });
  const groups = job('SELECT count(*) AS n FROM (SELECT DISTINCT x.a, y.a, z.a FROM t x, t y, t z)');
  const results = await Promise.all([1, 2].map(() => engine.query('a', groups, { timeoutMs: 60_000 })));
  expect(results.map(({ rows }) => rows)).toEqual([[{ n: 1_000_000 }], [{ n: 1_000_000 }]]);
});

const children = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1] === String(process.pid);
      } catch {
        return false;
      }
    });

test.skipIf(process.platform !== 'linux')(
  'reports engine_failed for a process that was killed from outside and restarts it',
  async () => {
    const engine = start();
    const before = new Set(children());
    await engine.query('a', job('SELECT 1'), { timeoutMs: 60_000 });
    const [pid] = children().filter((child) => !before.has(child));
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(environment.filter((line) => line && !line.startsWith('NODE_CHANNEL'))).toEqual([
      `NODE_COMPILE_CACHE=${process.env['NODE_COMPILE_CACHE']}`,
    ]);
    expect(Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[16])).toBe(10);
    const slow = job('SELECT count(*) FROM t x, t y, t z, t w, t v WHERE x.a + y.a + z.a + w.a + v.a = 3');
    const failed = failureOf(engine.query('a', slow, { timeoutMs: 60_000 }));
    setTimeout(() => process.kill(pid!, 'SIGKILL'), 200);
    expect(await failed).toMatchObject({ kind: 'engine_failed', blame: 'service', retryable: true });
    expect(await rowsOf(engine, 'SELECT 1 AS x')).toEqual([{ x: 1 }]);
  },
);

test.skipIf(process.platform !== 'linux')(
  'does not count the start of a process towards the time limit of a query',
  async () => {
    const engine = start();
    const before = new Set(children());
    const query = engine.query('a', job('SELECT 1'), { timeoutMs: 5_000 });
    const [pid] = children().filter((child) => !before.has(child));
    process.kill(pid!, 'SIGSTOP');
    setTimeout(() => process.kill(pid!, 'SIGCONT'), 5_500);
    await expect(query).resolves.toMatchObject({ total: 1 });
  },
);

test('limits the number of engines, serves organizations in turn and ends idle engines', async () => {
  const engine = start({ processesMax: 2, idleMs: 300 });
  const orgs = ['a', 'b', 'c'];
  const answers = orgs.flatMap((org) =>
    [1, 2].map((n) => engine.query(org, job(`SELECT ${n} AS n`), { timeoutMs: 60_000 })),
  );
  expect(engine.processCount()).toBeLessThanOrEqual(2);
  expect((await Promise.all(answers)).map(({ rows }) => rows[0]!['n'])).toEqual(orgs.flatMap(() => [1, 2]));
  await expect.poll(() => engine.processCount()).toBe(0);
});

test('serves another organization while one is under constant load', async () => {
  const engine = start({ processesMax: 1 });
  const state = { isBusy: true };
  const busy = Promise.all(
    [1, 2, 3].map(async () => {
      while (state.isBusy) await engine.query('busy', job('SELECT count(*) FROM t x, t y, t z'), { timeoutMs: 60_000 });
    }),
  );
  const { rows } = await engine.query('other', job('SELECT 1 AS n'), { timeoutMs: 60_000 });
  expect(rows).toEqual([{ n: 1 }]);
  state.isBusy = false;
  await busy;
});

test('cuts rows beyond the limits in the order of time and ID, and counts them', async () => {
  const engine = start();
  const sql = 'SELECT make_timestamp(1700000000000000 - a) AS _time, CAST(a AS VARCHAR) AS _id FROM t';
  const result = await engine.query('a', job(sql, { rowsMax: 3 }), { timeoutMs: 60_000 });
  expect(result).toMatchObject({ total: 100, truncated: true });
  expect(result.rows.map((row) => row['_id'])).toEqual(['99', '98', '97']);
  const whole = await engine.query('a', job(sql, { rowsMax: 100 }), { timeoutMs: 60_000 });
  expect(whole).toMatchObject({ total: 100, truncated: false });
  const wide = job("SELECT a, repeat('x', 1000) AS x FROM t", { bytesMax: 10_000 });
  const bytes = await engine.query('a', wide, { timeoutMs: 60_000 });
  expect(bytes).toMatchObject({ total: 100, truncated: true });
  expect(bytes.rows.length).toBeLessThan(10);
});

test('returns values as JSON, and runs a statement with comments, semicolons and the bounds of its window', async () => {
  const engine = start();
  const sql = `SELECT 9007199254740991 AS safe, 9007199254740993 AS big, 170141183460469231731687303715884105727::HUGEINT AS huge, 1.5::DECIMAL(5,2) AS dec,
    TIMESTAMP '2024-01-02 03:04:05.678901' AS ts, DATE '2024-01-02' AS d, INTERVAL 90 MINUTE AS i, {'a': [1, NULL], 'b': {'c': true}} AS s, MAP {'k': 1} AS m,
    '{"a":{"n":9007199254740993,"t":"x"}}'::JSON AS j, 'NaN'::DOUBLE AS nan, NULL AS none, 'a\\0b' AS t, [1, 2]::INTEGER[2] AS arr, true AS b, 1 AS x, 2 AS x`;
  expect(await rowsOf(engine, sql)).toEqual([
    {
      safe: 9007199254740991, big: '9007199254740993', huge: '170141183460469231731687303715884105727', dec: 1.5,
      ts: '2024-01-02T03:04:05.678Z', d: '2024-01-02', i: '01:30:00', s: { a: [1, null], b: { c: true } }, m: { k: 1 },
      j: { a: { n: '9007199254740993', t: 'x' } }, nan: 'NaN', none: null, t: 'a\\0b', arr: [1, 2], b: true, x: 1, x_1: 2,
      [exactTimes]: { ts: Date.UTC(2024, 0, 2, 3, 4, 5, 678) * 1000 + 901 },
    },
  ]); // prettier-ignore
  for (const [statement, rows] of [
    ['SELECT 1 AS x;', [{ x: 1 }]],
    ['SELECT 1 AS x; -- the ; end', [{ x: 1 }]],
    ["SELECT ';' AS x -- ;", [{ x: ';' }]],
    ['SELECT 1 AS x /* ; */ ;; ', [{ x: 1 }]],
    ['SELECT hour($window_end) AS x, $window_end - $window_start = INTERVAL 1 HOUR AS y', [{ x: 1, y: true }]],
  ] as const)
    expect(await rowsOf(engine, statement)).toEqual(rows);
});

const inspectionOf = (columns: number): Inspection => ({
  tables: ['auth'],
  lists: [],
  columns: Array.from({ length: columns }, (_, n) => [`column_${n}`]),
  optional: [],
  aliases: [],
  rowNames: [],
  allColumns: false,
  eventAsText: true,
  aggregate: false,
  parameters: [],
  jsonPaths: [],
  filters: {},
  outputs: [],
  crossEventPart: null,
});

test('keeps many short queries, few long ones, and none that is larger than an eighth of the cache', () => {
  const cache = createInspectionCache();
  for (let n = 0; n < 5000; n += 1) cache.set(`SELECT ${n}`, inspectionOf(1));
  expect(cache.size).toBe(5000);
  for (let n = 0; n < 300; n += 1) cache.set(`${n} ${'x'.repeat(50_000)}`, inspectionOf(1));
  expect(cache.size).toBeLessThan(200);
  expect(cache.calculatedSize).toBeLessThanOrEqual(16 * 1024 * 1024);
  cache.set('large', inspectionOf(60_000));
  expect(cache.get('large')).toBeUndefined();
});
