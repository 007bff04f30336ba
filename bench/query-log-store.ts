import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { receiveLogs } from '../src/detection/log-ingest/receive-logs.ts';
import { compactSegments } from '../src/detection/log-compaction/compact-segments.ts';
import { searchLogs, planSearch } from '../src/detection/log-query/search/search-logs.ts';
import { measureInTurn, measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';
import { withInProcessProgram, type InProcessProgram } from '../test/support/program-environment.ts';

const [batches, eventsPerBatch, rounds, perRound] = [48, 2000, 7, 10];
const from = new Date(Date.UTC(2026, 2, 2));
const limits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };
const hours = (n: number): Date => new Date(from.getTime() + n * 3_600_000);

let now = from;

/** Stores sign-in events, one hour per batch. */
async function ingest({ deps, orgId }: InProcessProgram): Promise<void> {
  for (let n = 0; n < batches; n += 1) {
    now = new Date(hours(n).getTime() + 1_800_000);
    const lines = Array.from({ length: eventsPerBatch }, (_, i) =>
      JSON.stringify({
        timestamp: now.toISOString(),
        user: `user${(i * 7919) % 500}`,
        country: ['SE', 'DE', 'FR'][i % 3],
        outcome: i % 10 === 0 ? 'failure' : 'success',
        bytes: i * 31,
        source: { ip: `192.0.2.${i % 250}` },
      }),
    );
    await receiveLogs(deps, orgId, { dataset: 'signins', body: Buffer.from(lines.join('\n')) });
  }
  now = hours(batches);
}

const scenarios = [
  {
    label: 'rows of one hour (one file)',
    window: { from: hours(10), to: hours(11) },
    query: 'SELECT _id, _time, "user", country FROM signins WHERE outcome = \'failure\'',
  },
  {
    label: 'groups of two days (all files)',
    window: { from, to: hours(batches) },
    query: 'SELECT "user", count(*) AS count FROM signins GROUP BY 1',
  },
];

/** Runs the same statement on the same files with DuckDB in this process: creates the views, runs the statement, and reads the rows. */
async function prepareDuckDbQuery(
  connection: DuckDBConnection,
  { deps, orgId }: InProcessProgram,
  scenario: (typeof scenarios)[number],
): Promise<() => Promise<number>> {
  const { buildJob } = await planSearch(deps, orgId, {
    query: scenario.query,
    window: { ...scenario.window, clock: 'ingest' },
  });
  const { sql, tables } = buildJob();
  return async () => {
    for (const table of tables) await connection.run(`create or replace temp view "${table.name}" as ${table.sql}`);
    return (await connection.runAndReadAll(sql)).currentRowCount;
  };
}

async function compare(
  program: InProcessProgram,
  connection: DuckDBConnection,
  scenario: (typeof scenarios)[number],
): Promise<BenchmarkRow> {
  const baseline = await prepareDuckDbQuery(connection, program, scenario);
  const tocsin = async (): Promise<number> =>
    (
      await searchLogs(program.deps, program.orgId, {
        query: scenario.query,
        window: { ...scenario.window, clock: 'ingest' },
        limits,
      })
    ).rows.length;
  const [rowCount, baselineRowCount] = [await tocsin(), await baseline()];
  if (rowCount !== baselineRowCount || rowCount === 0)
    throw new Error(`${scenario.label}: ${rowCount} rows, baseline ${baselineRowCount}`);
  const each = (work: () => Promise<unknown>) => async (): Promise<number> => {
    const ms = await measureMs(async () => {
      for (let n = 0; n < perRound; n += 1) await work();
    });
    return ms / perRound;
  };
  return {
    label: `${scenario.label}, ${rowCount} rows`,
    unit: 'ms',
    ...(await measureInTurn(rounds, { tocsin: each(tocsin), baseline: each(baseline), better: 'less' })),
  };
}

export const queryLogStoreBenchmark: Benchmark = {
  title: `Queries of the embedded log store against DuckDB alone on the same files (${batches * eventsPerBatch} events)`,
  note: 'Besides DuckDB, a query seals its window and lists the segments in a transaction (about 1.1 ms), and its text and rows pass between two processes (0.6 ms), which keeps the data of organizations apart. Reading the rows as JSON takes 0.5 ms.',
  run: (report) =>
    withInProcessProgram(
      async (program) => {
        report('storing the events');
        const ms = await measureMs(() => ingest(program));
        const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
        const connection = await instance.connect();
        const lines: BenchmarkRow[] = [
          {
            label: `events stored durably, ${eventsPerBatch} per request`,
            unit: 'events/s',
            tocsin: (batches * eventsPerBatch) / (ms / 1000),
          },
        ];
        for (const scenario of scenarios) {
          report(scenario.label);
          lines.push(await compare(program, connection, scenario));
        }
        report('merging the files');
        while (await compactSegments(program.deps));
        for (const scenario of scenarios) {
          const label = scenario.label.replace(/ \(.*/, ' (Parquet, one file per day)');
          report(label);
          lines.push(await compare(program, connection, { ...scenario, label }));
        }
        connection.closeSync();
        return lines;
      },
      () => now,
    ),
};
