import { isDeepStrictEqual } from 'node:util';
import { clickhouse } from '../../src/detection/siem/connectors/clickhouse.ts';
import {
  convertCorrelation,
  correlatedRules,
  expectedRows,
  nestedCorrelation,
  sampleEvents,
  searchSlots,
  timeOf,
  type CorrelatedEvent,
} from '../../test/support/detection/sigma/correlated-slots.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';

const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 30_000 };
const timeTypes = ["DateTime64(3, 'UTC')", "DateTime64(9, 'Asia/Kolkata')", "DateTime('America/New_York')", 'DateTime'];
const textTypes = ['String', 'LowCardinality(String)', 'Nullable(String)'];

type Server = { execute: (statement: string) => Promise<void>; runSlots: (query: string) => Promise<string[][]> };

/**
 * Runs a correlation of each type in consecutive windows on a ClickHouse server, through its connection, and compares the rows of each window
 * with those of a plain evaluation. Events are at the bounds of windows, and time spans cross them.
 */
export async function measureClickhouseCorrelations(execute: Server['execute'], url: string): Promise<QualityFigure[]> {
  const settings = clickhouse.settings.parse({ url, timeColumn: 'at' });
  const connection = clickhouse.connect({ settings, credentials: { password: '' }, allow: [new URL(url).hostname] });
  const signal = AbortSignal.timeout(30 * 60_000);
  const runSlots = (query: string): Promise<string[][]> =>
    searchSlots('at', async (window) => (await connection.search(query, window, limits, signal)).rows);
  const server = { execute, runSlots };
  let [runs, same] = [0, 0];
  const problems: QualityFigure[] = [];
  const compare = async (name: string, query: string, expected: string[][]): Promise<void> => {
    runs += 1;
    const found = await runSlots(query).catch((error: Error) => error.message);
    if (isDeepStrictEqual(found, expected)) same += 1;
    else
      problems.push({
        name: `differs on ClickHouse: ${name}`,
        measured: `found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`,
      });
  };
  for (const [n, events] of sampleEvents(12).entries()) {
    await createTable(server, n, events);
    for (const rule of correlatedRules)
      await compare(rule.text, convertCorrelation(rule.text, 'clickhouse'), expectedRows(events, rule));
  }
  const nested = convertCorrelation(nestedCorrelation.outer, 'clickhouse', nestedCorrelation.inner);
  for (const [minute, slot] of [
    [12, 1],
    [24, 2],
    [25, null],
  ] as const) {
    const rest = { user: 'u', host: 'h1', bytes: 1 };
    const events = [7, 8, 9].map((one): CorrelatedEvent => ({ minute: one, kind: 'a', ...rest }));
    await createTable(server, minute, [...events, { minute, kind: 'b', ...rest }]);
    const expected = Array.from({ length: 5 }, (_, index) => (index === slot ? [`u ${minute}`] : []));
    await compare('a correlation of correlations', nested, expected);
  }
  await execute('drop table acme_auth');
  return [
    {
      name: 'correlations that return the expected rows in each of five consecutive windows of ClickHouse',
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
