import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { receiveLogs } from '../src/detection/logs/ingestion/receive-logs.ts';
import { searchLogs, planSearch } from '../src/detection/logs/query/search-logs.ts';
import { measureInTurn, measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';
import { withInProcessProgram, type InProcessProgram } from './environment.ts';

const [batches, eventsPerBatch, rounds, perRound] = [48, 2000, 7, 10];
const from = new Date(Date.UTC(2026, 2, 2));
const limits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };
const hours = (n: number): Date => new Date(from.getTime() + n * 3_600_000);

let now = from;

/** Sign-ins, an hour a batch. */
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

const queries = [
  {
    what: 'rows of an hour (one file)',
    window: { from: hours(10), to: hours(11) },
    query: 'SELECT _id, _time, "user", country FROM signins WHERE outcome = \'failure\'',
  },
  {
    what: 'groups of two days (all files)',
    window: { from, to: hours(batches) },
    query: 'SELECT "user", count(*) AS count FROM signins GROUP BY 1',
  },
];

/** The same statement over the same files in a DuckDB of this process: views made, statement run, rows read. */
async function bareQuery(
  connection: DuckDBConnection,
  { deps, orgId }: InProcessProgram,
  asked: (typeof queries)[number],
): Promise<() => Promise<number>> {
  const { buildJob } = await planSearch(deps, orgId, {
    query: asked.query,
    window: { ...asked.window, clock: 'ingest' },
  });
  const { sql, tables } = buildJob();
  return async () => {
    for (const table of tables) await connection.run(`create or replace temp view "${table.name}" as ${table.sql}`);
    return (await connection.runAndReadAll(sql)).currentRowCount;
  };
}

async function compare(
  inside: InProcessProgram,
  connection: DuckDBConnection,
  asked: (typeof queries)[number],
): Promise<BenchmarkRow> {
  const bare = await bareQuery(connection, inside, asked);
  const ours = async (): Promise<number> =>
    (
      await searchLogs(inside.deps, inside.orgId, {
        query: asked.query,
        window: { ...asked.window, clock: 'ingest' },
        limits,
      })
    ).rows.length;
  const [here, there] = [await ours(), await bare()];
  if (here !== there || here === 0) throw new Error(`${asked.what}: ${here} rows against ${there}`);
  const each = (work: () => Promise<unknown>) => async (): Promise<number> => {
    const ms = await measureMs(async () => {
      for (let n = 0; n < perRound; n += 1) await work();
    });
    return ms / perRound;
  };
  return {
    label: `${asked.what}, ${here} rows`,
    unit: 'ms',
    ...(await measureInTurn(rounds, { ours: each(ours), bare: each(bare), better: 'less' })),
  };
}

export const queryLogStoreBenchmark: Benchmark = {
  title: `A query of the embedded log store against DuckDB alone on the same files (${batches * eventsPerBatch} events)`,
  run: (say) =>
    withInProcessProgram(
      async (inside) => {
        say('storing the events');
        const ms = await measureMs(() => ingest(inside));
        const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
        const connection = await instance.connect();
        const lines: BenchmarkRow[] = [
          {
            label: `stored durably, ${eventsPerBatch} a request`,
            unit: 'events/s',
            ours: (batches * eventsPerBatch) / (ms / 1000),
          },
        ];
        for (const asked of queries) {
          say(asked.what);
          lines.push(await compare(inside, connection, asked));
        }
        connection.closeSync();
        return lines;
      },
      () => now,
    ),
};
