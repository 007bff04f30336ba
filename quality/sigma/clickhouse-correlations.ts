import { isDeepStrictEqual } from 'node:util';
import { clickhouse } from '../../src/detection/siem/connectors/clickhouse.ts';
import {
  convertCorrelation,
  correlatedRules,
  expectedRows,
  nestedCorrelation,
  sampleStreams,
  searchWindows,
  timeOf,
  type CorrelatedEvent,
  type CorrelatedStream,
} from '../../test/support/detection/sigma/correlated-slots.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';

const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 30_000 };
const timeTypes = ["DateTime64(3, 'UTC')", "DateTime64(9, 'Asia/Kolkata')", "DateTime('America/New_York')", 'DateTime'];
const textTypes = ['String', 'LowCardinality(String)', 'Nullable(String)'];

type Server = {
  execute: (statement: string) => Promise<void>;
  runWindows: (bounds: readonly number[], query: string) => Promise<string[][]>;
};

/**
 * Runs a correlation of each type in consecutive windows on a ClickHouse server, through its connection, and compares the rows of each window
 * with those of a plain evaluation. Events are at the bounds of windows, and time spans cross them.
 */
export async function measureClickhouseCorrelations(execute: Server['execute'], url: string): Promise<QualityFigure[]> {
  const settings = clickhouse.settings.parse({ url, timeColumn: 'at' });
  const connection = clickhouse.connect({ settings, credentials: { password: '' }, allow: [new URL(url).hostname] });
  const signal = AbortSignal.timeout(30 * 60_000);
  const runWindows: Server['runWindows'] = (bounds, query) =>
    searchWindows(bounds, 'at', async (window) => (await connection.search(query, window, limits, signal)).rows);
  const server = { execute, runWindows };
  let [runs, same] = [0, 0];
  const problems: QualityFigure[] = [];
  const compare = async (name: string, query: string, { bounds }: CorrelatedStream, expected: string[][]) => {
    runs += 1;
    const found = await runWindows(bounds, query).catch((error: Error) => error.message);
    if (isDeepStrictEqual(found, expected)) same += 1;
    else
      problems.push({
        name: `differs on ClickHouse: ${name}`,
        measured: `found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`,
      });
  };
  for (const [n, stream] of sampleStreams(12).entries()) {
    await createTable(server, n, stream.events);
    for (const rule of correlatedRules)
      await compare(
        rule.text,
        convertCorrelation(rule.text, 'clickhouse', rule.inner),
        stream,
        expectedRows(stream, rule),
      );
  }
  const nested = convertCorrelation(nestedCorrelation.outer, 'clickhouse', nestedCorrelation.inner);
  for (const [minute, expected] of nestedCorrelation.cases) {
    const stream = nestedCorrelation.streamUntil(minute);
    await createTable(server, minute, stream.events);
    await compare('a correlation of correlations', nested, stream, expected);
  }
  await execute('drop table acme_auth');
  return [
    {
      name: 'correlations that return the expected rows in each of the random windows of ClickHouse',
      measured: `${formatRatio(same, runs)} (${same}/${runs})`,
      target: 'all',
      isMet: problems.length === 0,
    },
    ...problems,
  ];
}

/** Replaces the table of the events. Its columns have the types of number `n`. */
async function createTable({ execute }: Server, n: number, events: readonly CorrelatedEvent[]): Promise<void> {
  const text = textTypes[n % textTypes.length]!;
  const columns = `at ${timeTypes[n % timeTypes.length]!}, kind ${text}, user ${text}, host ${text}, bytes UInt32`;
  await execute('drop table if exists acme_auth');
  await execute(`create table acme_auth (${columns}) engine = MergeTree order by at`);
  const values = events.map(
    ({ minute, kind, user, host, bytes }) =>
      `(fromUnixTimestamp64Milli(${timeOf(minute).getTime()}), '${kind}', '${user}', '${host ?? ''}', ${bytes})`,
  );
  if (values.length > 0) await execute(`insert into acme_auth values ${values.join(', ')}`);
}
