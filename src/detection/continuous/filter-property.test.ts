import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { inspectQuery } from '../log-query/search/inspect-query.ts';
import { localConnection } from '../log-query/local-connection.ts';
import { createLogRuleSet } from '../log-query/search/match-logs.ts';
import type { QueryWindow } from '../siem/connector.ts';
import { matchEvents, planFilter } from './match-events.ts';

const store = await startLogStore();

const texts = [
  'alpha',
  'Alpha',
  'BETA alpha',
  'beta',
  'x-9',
  '',
  'true',
  '7',
  'é',
  'É',
  'a"b',
  'a\\b',
  "it's",
  'net^user',
];
const text = fc.constantFrom(...texts);
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.constantFrom<unknown>(7, 7.5, true, false, null, ['alpha', 'beta'], { inner: 'alpha' }),
);
const event = fc.record(
  {
    f: value,
    g: value,
    F2: text,
    n: fc.integer({ min: 0, max: 9 }),
    deep: fc.oneof(fc.record({ inner: value }), text),
  },
  { requiredKeys: ['n'] },
);

const quote = (one: string): string => `'${one.replaceAll("'", "''")}'`;
const operand = fc.constantFrom(
  'f',
  'g',
  'F2',
  'deep.inner',
  '_text.f',
  "(_event->>'$.f')",
  "(_event->>'$.deep.inner')",
  'lower(f)',
  'coalesce(_text.f, _text.g)',
  "coalesce(F2, 'none')",
);
const literal = fc.oneof(text, fc.constantFrom('gamma', 'delta 9')).map(quote);
const atom = fc.oneof(
  fc.tuple(operand, fc.constantFrom('=', '<>', 'LIKE', 'ILIKE', 'NOT LIKE'), literal).map((parts) => parts.join(' ')),
  fc
    .tuple(operand, fc.constantFrom('LIKE', 'ILIKE'), text)
    .map(([left, operator, part]) => `${left} ${operator} ${quote(`%${part}%`)}`),
  fc
    .tuple(operand, fc.array(literal, { minLength: 1, maxLength: 3 }))
    .map(([left, list]) => `${left} IN (${list.join()})`),
  fc
    .tuple(
      fc.constantFrom('contains', 'starts_with', 'suffix', 'regexp_matches'),
      operand,
      fc.constantFrom('alpha', 'a', 'BETA', 'x-9'),
    )
    .map(([name, left, part]) => `${name}(${left}, ${quote(part)})`),
  fc.tuple(operand, fc.constantFrom('IS NULL', 'IS NOT NULL')).map((parts) => parts.join(' ')),
  fc.constantFrom('n > 4', 'n BETWEEN 2 AND 5', "n = 7 AND f = 'alpha'", "CASE WHEN f = 'alpha' THEN g END = 'beta'"),
);
const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    atom,
    fc.tuple(tie('condition'), fc.constantFrom('AND', 'OR'), tie('condition')).map(([a, by, b]) => `(${a} ${by} ${b})`),
    tie('condition').map((one) => `NOT (${one})`),
  ),
}));
const query = fc.oneof(
  condition.map((one) => `SELECT _id, _time, f FROM d WHERE ${one}`),
  fc.tuple(condition, condition).map(
    ([a, b]) => `WITH picked AS (SELECT _id, _time, f, g, F2, n, deep, _event FROM d WHERE ${a})
      SELECT _id, f FROM picked WHERE n > 1 UNION ALL SELECT _id, g FROM d WHERE ${b}`,
  ),
  condition.map(
    (one) => `SELECT _id, item FROM (SELECT _id, unnest([F2, 'x']) AS item FROM d WHERE ${one}) WHERE item <> 'x'`,
  ),
);

test('random queries match the same events when they arrive as in the engine', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  await store.send(org, 'd', fc.sample(event, { numRuns: 60, seed: 11 }));
  store.at('2024-06-01T02:00:00Z');
  const window = { from: new Date('2024-06-01T00:00:00Z'), to: new Date('2024-06-01T01:00:00Z') };
  const detections: Parameters<typeof matchEvents>[1]['detections'][number][] = [];
  const expected = new Map<string, number>();
  for (const [index, sql] of fc.sample(query, { numRuns: 80, seed: 12 }).entries()) {
    const { inspection } = await inspectQuery(store.deps, org, sql);
    expect([sql, inspection.crossEventPart]).toEqual([sql, null]);
    const detectionId = `d-${index}`;
    const rule = planFilter(inspection.filters['d']!);
    detections.push({ detectionId, revision: 1, condition: rule?.rule, query: sql });
    // A query that fails on these values is left to its slot.
    const { rows } = await store.search(org, sql, { ...window, clock: 'ingest' }).catch(() => ({ rows: [] }));
    if (rows.length > 0) expected.set(sql, new Set(rows.map((row) => row['_id'])).size);
  }
  const conditional = detections.filter(({ condition: one }) => one !== undefined);
  const ruleSet = createLogRuleSet(conditional.map(({ condition: one }) => one!));
  const searched: string[] = [];
  const search = store.deps.engine.query;
  const engine = {
    ...store.deps.engine,
    query: (...input: Parameters<typeof search>) => (searched.push(input[1].sql), search(...input)),
  };
  const index = { key: '', detections, conditional, ruleSet };
  const counts = await matchEvents(
    { ...store.deps, engine },
    index,
    { orgId: org, dataset: 'd', window, searchMs: Infinity },
    async () => {},
  );
  const sqlOf = new Map(detections.map(({ detectionId, query: sql }) => [detectionId, sql!]));
  expect(new Map(counts.map(({ detectionId, events }) => [sqlOf.get(detectionId)!, events]))).toEqual(expected);
  // The conditions decide without the queries about some that match nothing.
  const quiet = conditional.filter((one) => !expected.has(one.query!));
  expect(quiet.filter((one) => !searched.includes(one.query!)).length).toBeGreaterThan(5);
});

test('random queries find the same events in a batch when texts decide which of them need the engine', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  // In the first hour, some events have their letters as escapes.
  const lines = fc.sample(event, { numRuns: 120, seed: 13 }).map((one) => JSON.stringify(one));
  const escape = (text: string, letters: RegExp): string =>
    text.replace(letters, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const escaped = lines.map((line, n) => escape(line, n % 2 === 0 ? /(?<=":"[^"]*)[a-z]/gi : /é/gi));
  for (const some of [escaped.slice(0, 10), escaped.slice(10)]) await store.send(org, 'd', some.join('\n'));
  store.at('2024-06-01T01:30:00Z');
  await store.send(
    org,
    'd',
    lines
      .slice(0, 12)
      .map((line) => escape(line, /É/g))
      .join('\n'),
  );
  store.at('2024-06-01T03:00:00Z');
  const windows = [0, 1].map((hour): QueryWindow => ({
    from: new Date(Date.UTC(2024, 5, 1, hour)),
    to: new Date(Date.UTC(2024, 5, 1, hour + 1)),
    clock: 'slot',
    ingestedBefore: new Date(Date.UTC(2024, 5, 1, hour + 1)),
    lateSince: new Date(0),
  }));
  const rare = ['gamma', 'delta', 'inner'].flatMap((word) =>
    ['f', '_text.g', "(_event->>'$.deep.inner')"].map((left) => `SELECT _id FROM d WHERE ${left} LIKE '%${word}%'`),
  );
  const queries = [...new Set([...fc.sample(query, { numRuns: 35, seed: 14 }), ...rare])];
  const connection = localConnection(store.deps, org);
  const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 30_000 };
  const signal = new AbortController().signal;
  const requests = windows.flatMap((window) => queries.map((sql) => ({ query: sql, window, arrival: null })));
  let found: Awaited<ReturnType<NonNullable<typeof connection.searchTogether>>> = [];
  const answered = (): number => found.filter((one) => one !== undefined).length;
  const batch = vi.spyOn(store.deps.engine, 'batch');
  // The first search learns which texts its queries need. On a busy machine it does not come to all of them.
  await expect
    .poll(async () => {
      batch.mockClear();
      found = await connection.searchTogether!(requests, limits, signal);
      return answered() - batch.mock.calls.flatMap(([, job]) => job.queries).length;
    })
    .toBeGreaterThan(5);
  batch.mockRestore();
  for (const [index, { query: sql, window }] of requests.entries()) {
    const alone = await connection.search(sql, window, limits, signal).catch(() => undefined);
    if (alone && found[index]) expect([sql, found[index].result.rows]).toEqual([sql, alone.rows]);
  }
  expect(answered()).toBeGreaterThan(queries.length);
});
