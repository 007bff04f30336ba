import { afterAll, expect, test } from 'vitest';
import fc from 'fast-check';
import pg from 'pg';
import { testDatabase } from '../../../../test/support/database.ts';
import { createTestFolder } from '../../../../test/support/detection/log-store.ts';
import { createEngine } from '../../logs/engine/engine.ts';
import { openFixtureStore } from '../../logs/query/fixture-store.ts';
import { insertWindow } from '../../siem/queries/query-text.ts';
import { buildWindowExpressions } from '../../siem/queries/window-expressions.ts';
import { convertTask } from '../convert/convert-task.ts';

/** Windows of ten minutes, and events at whole minutes. */
const slotMs = 10 * 60_000;
const slots = 5;
const startMs = Date.UTC(2026, 0, 5);
type Event = { minute: number; kind: 'a' | 'b'; user: string; host: string };

const event: fc.Arbitrary<Event> = fc.record({
  minute: fc.integer({ min: 0, max: 10 * slots - 1 }),
  kind: fc.constantFrom('a', 'b'),
  user: fc.constantFrom('u', 'v'),
  host: fc.constantFrom('h1', 'h2', 'h3'),
});
const samples = fc.sample(fc.array(event, { minLength: 3, maxLength: 14 }), { numRuns: 6, seed: 37 });

type Rule = { text: string; span: number; holds: (span: Event[], last: Event) => boolean };
const count = (list: Event[], kind: string): number => list.filter((one) => one.kind === kind).length;
const head = 'group-by: [user], timespan';
const rules: Rule[] = [
  {
    text: `{type: event_count, rules: [a], ${head}: 7m, condition: {gte: 3}}`,
    span: 7,
    holds: (span, { kind }) => kind === 'a' && count(span, 'a') >= 3,
  },
  {
    text: `{type: value_count, rules: [a], ${head}: 8m, condition: {field: host, gte: 2}}`,
    span: 8,
    holds: (span, { kind }) =>
      kind === 'a' && new Set(span.filter((one) => one.kind === 'a').map(({ host }) => host)).size >= 2,
  },
  {
    text: `{type: temporal, rules: [a, b], ${head}: 6m}`,
    span: 6,
    holds: (span) => count(span, 'a') > 0 && count(span, 'b') > 0,
  },
  {
    text: `{type: temporal_ordered, rules: [a, b], ${head}: 12m}`,
    span: 12,
    holds: (span, { kind }) => kind === 'b' && count(span, 'a') > 0,
  },
];

const spanOf = (events: readonly Event[], last: Event, minutes: number): Event[] =>
  events.filter(({ user, minute }) => user === last.user && minute <= last.minute && minute >= last.minute - minutes);
const slotOf = ({ minute }: Event): number => Math.floor(minute / 10);
const keyOf = ({ minute, user }: Event): string => `${user} ${minute}`;

/** Returns what each slot must return, by slot: a match whose events of the slot suffice, or whose span has no match of an earlier slot. */
function expectedRows(events: readonly Event[], { span, holds }: Rule): string[][] {
  const matches = events.filter((one) => holds(spanOf(events, one, span), one));
  return Array.from({ length: slots }, (_, slot) => {
    const own = matches.filter((one) => slotOf(one) === slot);
    const returned = own.filter((one) => {
      const isAlone = holds(
        spanOf(events, one, span).filter((other) => slotOf(other) === slot),
        one,
      );
      return isAlone || !spanOf(matches, one, span).some((other) => slotOf(other) < slot);
    });
    return [...new Set(returned.map(keyOf))].toSorted();
  });
}

const base = (kind: string): string =>
  `title: ${kind}\nname: ${kind}\nlogsource: {product: acme, service: auth}\ndetection: {s: {kind: ${kind}}, condition: s}\n---\n`;
const convert = (rule: string, kind: 'local' | 'postgres', more = ''): string => {
  const text = `${base('a')}${base('b')}${more}title: c\ncorrelation: ${rule}\n`;
  const task = { rules: text, kind, datasets: null, mappingFolders: [], allowUnknown: true };
  const { result } = convertTask({ ...task, timeColumn: kind === 'local' ? '_time' : 'at' }).at(-1)!;
  if (result.query === null) throw new Error(JSON.stringify(result));
  return result.query;
};

const segmentStore = { folderOf: () => folder };
const folder = createTestFolder();
const engine = createEngine({ directoryOf: segmentStore.folderOf });
afterAll(() => engine.close());
const organization = '11111111-1111-4111-8111-111111111111';
const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 30_000 };
const signal = new AbortController().signal;
const at = (minute: number): Date => new Date(startMs + minute * 60_000);
const windowOf = (slot: number) => ({
  from: new Date(startMs + slot * slotMs),
  to: new Date(startMs + (slot + 1) * slotMs),
  clock: 'event' as const,
});

/** Returns the rows of each slot on the embedded engine. */
async function runSlots(events: readonly Event[], queries: readonly string[]): Promise<string[][][]> {
  const list = events.map(({ minute, ...rest }) => ({ '@timestamp': at(minute).toISOString(), ...rest }));
  const store = await openFixtureStore(
    { engine, segmentStore, organization },
    { events: { acme_auth: list }, fields: new Map(), undatedMicros: 0 },
  );
  try {
    const results: string[][][] = [];
    for (const query of queries) {
      const found: string[][] = [];
      for (let slot = 0; slot < slots; slot++)
        found.push(toKeys((await store.search(query, windowOf(slot), limits, signal)).rows, '_time'));
      results.push(found);
    }
    return results;
  } finally {
    await store.close();
  }
}

const toKeys = (rows: readonly Record<string, unknown>[], time: string): string[] => {
  const minute = (row: Record<string, unknown>): number =>
    ((row[time] instanceof Date ? row[time].getTime() : Date.parse(String(row[time]))) - startMs) / 60_000;
  return [...new Set(rows.map((row) => `${String(row['user'])} ${minute(row)}`))].toSorted();
};

test('slots of the embedded engine return each completed correlation once', async () => {
  const queries = rules.map(({ text }) => convert(text, 'local'));
  for (const events of samples)
    expect(await runSlots(events, queries)).toEqual(rules.map((rule) => expectedRows(events, rule)));
});

test('slots of PostgreSQL return each completed correlation once', async () => {
  const { url } = await testDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table acme_auth (at timestamptz, kind text, "user" text, host text)');
  for (const events of samples) {
    await client.query('delete from acme_auth');
    for (const { minute, kind, user, host } of events)
      await client.query('insert into acme_auth values ($1, $2, $3, $4)', [at(minute), kind, user, host]);
    for (const rule of rules) {
      const query = convert(rule.text, 'postgres');
      const found: string[][] = [];
      for (let slot = 0; slot < slots; slot++) {
        const literal = (time: Date): string => `'${time.toISOString()}'::timestamptz`;
        const bounds = buildWindowExpressions(windowOf(slot), { timeColumn: 'at' }, literal);
        found.push(toKeys((await client.query(insertWindow(query, bounds, 'standard'))).rows, 'at'));
      }
      expect([rule.text, found]).toEqual([rule.text, expectedRows(events, rule)]);
    }
  }
  await client.end();
});

test('a correlation of correlations looks back by the time spans of both', async () => {
  const many = `title: many\nname: many\ncorrelation: {type: event_count, rules: [a], ${head}: 5m, condition: {gte: 3}}\n---\n`;
  const query = convert(`{type: temporal_ordered, rules: [many, b], ${head}: 15m}`, 'local', many);
  expect(query).toMatch(/^-- lookback 2100s\n/);
  const events = [7, 8, 9].map((minute): Event => ({ minute, kind: 'a', user: 'u', host: 'h1' }));
  const then = (minute: number): Event => ({ minute, kind: 'b', user: 'u', host: 'h1' });
  const [[early], [late], [never]] = [
    await runSlots([...events, then(12)], [query]),
    await runSlots([...events, then(24)], [query]),
    await runSlots([...events, then(25)], [query]),
  ];
  expect([early, late, never]).toEqual([
    [[], ['u 12'], [], [], []],
    [[], [], ['u 24'], [], []],
    [[], [], [], [], []],
  ]);
});

test('reports correlations that cannot be combined', () => {
  const convertAll = (text: string): string[] =>
    convertTask({
      rules: `${base('a')}${text}`,
      kind: 'local',
      datasets: null,
      timeColumn: '_time',
      mappingFolders: [],
      allowUnknown: true,
    }).flatMap(({ result }) => [...result.errors.map(({ message }) => message), ...result.warnings]);
  const inner =
    'title: x\nname: x\ncorrelation: {type: event_count, rules: [y], timespan: 1m, condition: {gte: 2}}\n---\n';
  expect(convertAll(`${inner}${inner.replaceAll('x', 'z').replace('[y]', '[x]').replaceAll('z', 'y')}`)).toEqual(
    expect.arrayContaining(['the correlation x uses itself', 'the correlation y uses itself']),
  );
  const outer =
    'title: o\ncorrelation: {type: event_count, rules: [x], group-by: [user], timespan: 3d, condition: {gte: 2}}\n';
  const bare = inner.replace('[y]', '[a]');
  expect(convertAll(`${bare}${outer}`)).toContain('x is a correlation rule that does not group by user');
  expect(convertAll(`${bare.replace('timespan', 'group-by: [user], timespan')}${outer}`)).toContainEqual(
    expect.stringContaining('the events of the 4 days before its window'),
  );
});
