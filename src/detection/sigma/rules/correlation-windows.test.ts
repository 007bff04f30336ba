import { afterAll, expect, test } from 'vitest';
import pg from 'pg';
import { testDatabase } from '../../../../test/support/database.ts';
import { createTestFolder } from '../../../../test/support/detection/log-store.ts';
import {
  baseRule,
  convertCorrelation,
  correlatedRules,
  expectedRows,
  nestedCorrelation,
  sampleStreams,
  searchWindows,
  timeOf,
  type CorrelatedStream,
} from '../../../../test/support/detection/sigma/correlated-slots.ts';
import { createEngine } from '../../log-engine/process/engine.ts';
import { openFixtureStore } from '../../log-query/search/fixture-store.ts';
import { insertWindow } from '../../siem/query-text.ts';
import { buildWindowExpressions } from '../../siem/query-text.ts';
import { convertTask } from '../convert/convert-task.ts';

const samples = sampleStreams(8);
const segmentStore = { folderOf: () => folder };
const folder = createTestFolder();
const engine = createEngine({ directoryOf: segmentStore.folderOf });
afterAll(() => engine.close());
const organization = '11111111-1111-4111-8111-111111111111';
const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 30_000 };
const signal = new AbortController().signal;
/** Returns the rows of each window on the embedded engine. */
async function runWindows({ events, bounds }: CorrelatedStream, queries: readonly string[]): Promise<string[][][]> {
  const list = events.map(({ minute, ...rest }) => ({ '@timestamp': timeOf(minute).toISOString(), ...rest }));
  const store = await openFixtureStore(
    { engine, segmentStore, organization },
    { events: { acme_auth: list }, fields: new Map(), undatedMicros: 0 },
  );
  try {
    const results: string[][][] = [];
    for (const query of queries)
      results.push(
        await searchWindows(
          bounds,
          '_time',
          async (window) => (await store.search(query, window, limits, signal)).rows,
        ),
      );
    return results;
  } finally {
    await store.close();
  }
}

test('the samples complete a correlation of each type', () => {
  const raised = correlatedRules.filter((rule) =>
    samples.some((stream) => expectedRows(stream, rule).flat().length > 0),
  );
  expect(raised).toEqual(correlatedRules);
});

test('random windows of the embedded engine return each completed correlation once', async () => {
  const queries = correlatedRules.map(({ text, inner }) => convertCorrelation(text, 'local', inner));
  for (const stream of samples)
    expect(await runWindows(stream, queries)).toEqual(correlatedRules.map((rule) => expectedRows(stream, rule)));
});

test('random windows of PostgreSQL return each completed correlation once', async () => {
  const { url } = await testDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table acme_auth (at timestamptz, kind text, "user" text, host text, bytes int)');
  for (const stream of samples) {
    const { events, bounds } = stream;
    await client.query('delete from acme_auth');
    for (const { minute, kind, user, host, bytes } of events)
      await client.query('insert into acme_auth values ($1, $2, $3, $4, $5)', [
        timeOf(minute),
        kind,
        user,
        host,
        bytes,
      ]);
    for (const rule of correlatedRules) {
      const query = convertCorrelation(rule.text, 'postgres', rule.inner);
      const found = await searchWindows(bounds, 'at', async (window) => {
        const literal = (time: Date): string => `'${time.toISOString()}'::timestamptz`;
        const expressions = buildWindowExpressions(window, { timeColumn: 'at' }, literal);
        return (await client.query(insertWindow(query, expressions, 'standard'))).rows;
      });
      expect([rule.text, found]).toEqual([rule.text, expectedRows(stream, rule)]);
    }
  }
  await client.end();
});

test('a correlation of correlations looks back by the time spans of both', async () => {
  const query = convertCorrelation(nestedCorrelation.outer, 'local', nestedCorrelation.inner);
  expect(query).toMatch(/^-- correlation\n-- lookback 3000s\n/);
  for (const [minute, expected] of nestedCorrelation.cases)
    expect(await runWindows(nestedCorrelation.streamUntil(minute), [query])).toEqual([expected]);
});

test('reports correlations that cannot be combined', () => {
  const convertAll = (text: string): string[] =>
    convertTask({
      rules: `${baseRule('a')}${text}`,
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
    expect.stringContaining('the events of the 7 days before its window'),
  );
});
