import { afterAll, expect, test } from 'vitest';
import { createTestFolder } from '../../../../test/support/detection/log-store.ts';
import { openFixtureStore, type FixtureEvent } from '../../log-query/search/fixture-store.ts';
import { createFileStore } from '../../log-store/files/file-store.ts';
import { compilePattern } from '../../matching/text-pattern.ts';
import { createEngine } from '../process/engine.ts';
import type { EventFilter, FieldPath } from './event-filter.ts';

const segmentStore = createFileStore(createTestFolder());
const engine = createEngine({ directoryOf: segmentStore.folderOf });
afterAll(() => engine.close());
const organization = '11111111-1111-4111-8111-111111111111';
const deps = { engine, segmentStore, organization };
const signal = new AbortController().signal;
const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 20_000 };
const window = { from: new Date('2030-01-07T00:00:00Z'), to: new Date('2030-01-08T00:00:00Z') };

const at = (n: number): string => new Date(window.from.getTime() + n * 60_000).toISOString();
const events: FixtureEvent[] = ['login', 'Login', 'logout', 'delete', 'delete', '', 'list'].map((action, n) => ({
  '@timestamp': at(n),
  action,
  user: ['ada', 'ben', 'ada', 'cyn', 'ben', 'ada', 'dan'][n],
  n,
  a: { b: n % 2 === 0 ? 'even' : 'odd', ...(n > 4 ? { c: 'late' } : {}) },
}));

function readText(event: FixtureEvent, { keys, isExact }: FieldPath): string | undefined {
  let value: unknown = event;
  for (const key of keys) {
    const names = Object.keys((value as object | null) ?? {});
    const name = names.find((one) => (isExact ? one === key : one.toLowerCase() === key.toLowerCase()));
    value = name === undefined ? undefined : (value as Record<string, unknown>)[name];
  }
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}

function passes(event: FixtureEvent, filter: EventFilter): boolean {
  if (filter.kind !== 'test')
    return filter.kind === 'all'
      ? filter.of.every((one) => passes(event, one))
      : filter.of.some((one) => passes(event, one));
  const { paths, test: tested } = filter;
  if (tested.kind === 'regex') return paths.some((path) => new RegExp(tested.source).test(readText(event, path) ?? ''));
  if (tested.kind !== 'text') throw new Error(`Filters have no ${tested.kind}.`);
  const fold = (text: string): string => (tested.cased ? text : text.toLowerCase());
  const matches = compilePattern(tested.pattern.map((part) => ('text' in part ? { text: fold(part.text) } : part)));
  return paths.some((path) => {
    const text = readText(event, path);
    return text !== undefined && matches(fold(text));
  });
}

async function run(query: string, list: FixtureEvent[]) {
  const store = await openFixtureStore(deps, { events: { d: list, e: events }, fields: new Map(), undatedMicros: 0 });
  try {
    const { rows } = await store.searchAll(query, window, limits, signal);
    return rows.map(({ _id, ...row }) => JSON.stringify(row)).toSorted();
  } finally {
    await store.close();
  }
}

/** A query, and how many of the seven events of `d` it needs at most. */
const queries: [query: string, kept: number][] = [
  ["SELECT user FROM d WHERE action = 'login'", 1],
  ["SELECT user FROM d WHERE 'login' = action", 1],
  ["SELECT user FROM d WHERE lower(action) = 'login'", 2],
  ["SELECT user FROM d WHERE ACTION IN ('login', 'list') AND n > 3", 2],
  ["SELECT user FROM d WHERE action = 'login' OR n = 3", 7],
  ["SELECT user FROM d WHERE regexp_matches(plain_command(action), '(?i)login')", 2],
  ["SELECT user FROM d WHERE action <> 'login'", 7],
  ["SELECT user FROM d WHERE NOT (action = 'login')", 7],
  ["SELECT user FROM d WHERE action = ''", 7],
  ["SELECT user FROM d WHERE n = '3'", 7],
  ["SELECT user FROM d WHERE action LIKE 'log%' AND action NOT LIKE '%out'", 2],
  ["SELECT user FROM d WHERE action ILIKE 'LOG%'", 3],
  ["SELECT user FROM d WHERE action LIKE '%'", 7],
  ["SELECT user FROM d WHERE regexp_matches(action, '(?i)^log(in|out)$')", 3],
  ["SELECT user FROM d WHERE starts_with(action, 'de') AND contains(user, 'y') AND suffix(action, 'te')", 1],
  ["SELECT user FROM d WHERE coalesce(action, '') = 'list'", 1],
  ["SELECT user FROM d WHERE coalesce(nullif(action, ''), 'login') = 'login'", 7],
  ["SELECT user FROM d WHERE (_event->>'$.a.b') = 'odd'", 3],
  ["SELECT user FROM d WHERE ((_event->'$.a')->>'$.c') = 'late'", 2],
  ["SELECT user FROM d WHERE json_extract_string(_event, '/a/b') = 'odd'", 3],
  ["SELECT user FROM d x WHERE x.action = 'login'", 1],
  // The name of an output may be that of a column as well.
  ["SELECT user AS who, upper(action) AS shout FROM d WHERE shout = 'LOGIN'", 2],
  ["SELECT 'login' AS action, user FROM d WHERE action = 'login'", 7],
  // What each row takes from one event passes through CTEs and subqueries.
  ["WITH c AS (SELECT action AS what, user FROM d) SELECT user FROM c WHERE what = 'list'", 1],
  ["WITH c AS (SELECT *, lower(action) AS what FROM d) SELECT user FROM c WHERE what = 'login'", 2],
  ["SELECT s.user FROM (SELECT action AS what, user FROM d WHERE user = 'ada') s WHERE s.what = 'logout'", 1],
  ["WITH c AS (SELECT CASE WHEN action = 'list' THEN 'x' WHEN user = 'cyn' THEN 'y' END AS k FROM d) SELECT k FROM c WHERE k IS NOT NULL", 2],
  ["WITH c AS (SELECT CASE WHEN action = 'list' THEN 'x' ELSE 'y' END AS k FROM d) SELECT k FROM c WHERE k IS NOT NULL", 7],
  ["WITH c(what, who) AS (SELECT user, action FROM d) SELECT who FROM c WHERE what = 'list'", 7],
  ["WITH c AS (SELECT * EXCLUDE (action), user AS action FROM d) SELECT n FROM c WHERE action = 'ada'", 7],
  // A row that depends on other rows needs them all.
  ["WITH c AS (SELECT action, row_number() OVER (ORDER BY n) AS nth FROM d) SELECT nth FROM c WHERE action = 'delete'", 7],
  ["WITH c AS (SELECT user, count(*) AS k FROM d GROUP BY user) SELECT k FROM c WHERE user = 'ada'", 7],
  ["WITH c AS (SELECT user, count(*) AS k FROM d WHERE action = 'delete' GROUP BY user) SELECT k FROM c WHERE user = 'ben'", 2],
  ["WITH c AS (SELECT action, n FROM d ORDER BY n LIMIT 2) SELECT n FROM c WHERE action = 'Login'", 7],
  ["WITH c AS (SELECT DISTINCT ON (user) action, user FROM d ORDER BY user, n) SELECT user FROM c WHERE action = 'login'", 7],
  ["SELECT count(*) AS k FROM d WHERE action = 'delete' HAVING count(*) > 1", 2],
  ["SELECT user, count(*) AS k FROM d WHERE action = 'delete' GROUP BY user", 2],
  // Every use of a dataset counts.
  ["SELECT user FROM d WHERE action = 'login' UNION ALL SELECT user FROM d WHERE action = 'list'", 2],
  ["SELECT a.user FROM d a JOIN d b ON a.user = b.user WHERE a.action = 'login'", 7],
  ["WITH c AS (SELECT user FROM d WHERE action = 'delete') SELECT x.user FROM c x JOIN c y ON x.user = y.user", 2],
  ["WITH c AS (SELECT user FROM d WHERE action = 'delete'), u AS (SELECT 1 AS one) SELECT one FROM u", 0],
  // A name in a subquery may be a column of the query around it.
  ["SELECT user FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.user = e.user AND a.b = 'odd')", 7],
  ["SELECT e.user FROM e, (SELECT d.n AS k FROM d WHERE e.action = 'list') s", 7],
  ["WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM r WHERE k < 3) SELECT k, user FROM r, d WHERE k = 3", 7],
]; // prettier-ignore

test.each(queries)('%s', async (query, kept) => {
  const { filters, tables } = await engine.inspect(organization, query);
  expect(Object.keys(filters).toSorted()).toEqual(tables.toSorted());
  const needed = events.filter((event) => passes(event, filters['d']!));
  expect(needed).toHaveLength(kept);
  expect(await run(query, needed)).toEqual(await run(query, events));
});

test('a query that reads the same rows in very many ways has no filters', async () => {
  const doubled = Array.from(
    { length: 20 },
    (_, n) => `c${n + 1} AS (SELECT x.user FROM c${n} x JOIN c${n} y ON true)`,
  );
  const query = `WITH c0 AS (SELECT user FROM d WHERE action = 'list'), ${doubled.join(', ')} SELECT user FROM c20`;
  expect((await engine.inspect(organization, query)).filters).toEqual({ d: { kind: 'all', of: [] } });
});
