import { startFauxqs } from 'fauxqs';
import { createCatalogCache } from '../src/detection/log-store/catalog/catalog.store.ts';
import { createEngine } from '../src/detection/log-engine/process/engine.ts';
import { receiveLogs } from '../src/detection/log-ingest/receive-logs.ts';
import { searchLogs } from '../src/detection/log-query/search/search-logs.ts';
import { createS3Store } from '../src/detection/log-store/files/s3-store.ts';
import type { Deps } from '../src/app/deps.ts';
import { createLogger } from '../src/platform/lib/logging/logger.ts';
import { parseLogsUrl, type BucketAddress } from '../src/platform/lib/storage/logs-url.ts';
import { withDataDir, withInProcessProgram, type InProcessProgram } from '../test/support/program-environment.ts';
import { measureInTurn, measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';

const [batches, eventsPerBatch, rounds] = [48, 20_000, 7];
const from = new Date(Date.UTC(2026, 2, 2));
const hours = (n: number): Date => new Date(from.getTime() + n * 3_600_000);
const limits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };

let now = from;

/** Returns the sign-in events of one hour as NDJSON. */
function eventsOfHour(hour: number): Buffer {
  const timestamp = new Date(hours(hour).getTime() + 1_800_000).toISOString();
  const lines = Array.from({ length: eventsPerBatch }, (_, i) =>
    JSON.stringify({
      timestamp,
      user: `user${(i * 7919) % 500}`,
      country: ['SE', 'DE', 'FR'][i % 3],
      outcome: i % 10 === 0 ? 'failure' : 'success',
      bytes: i * 31,
      source: { ip: `192.0.2.${i % 250}` },
    }),
  );
  return Buffer.from(lines.join('\n'));
}

type Storage = { deps: Deps; dataset: string };

/** Runs `work` with a log store and a query engine of its own on the bucket and an empty cache, as a machine that has just been added. */
async function withNewMachine<T>(deps: Deps, url: string, work: (deps: Deps) => Promise<T>): Promise<T> {
  return withDataDir(async (cacheFolder) => {
    const address = parseLogsUrl(url) as BucketAddress;
    const segmentStore = createS3Store(address, { cacheFolder, cacheBytes: 1e10, log: createLogger('error') });
    const engine = createEngine({ directoryOf: segmentStore.folderOf });
    try {
      return await work({ ...deps, segmentStore, engine, logCatalogs: createCatalogCache() });
    } finally {
      await engine.close();
      segmentStore.close();
    }
  });
}

/** Returns a function that stores the next batch and returns the events per second. */
function createIngest({ deps, dataset }: Storage, orgId: InProcessProgram['orgId']): () => Promise<number> {
  let n = 0;
  return async () => {
    now = new Date(hours(n).getTime() + 1_800_000);
    const body = eventsOfHour(n);
    n += 1;
    return eventsPerBatch / ((await measureMs(() => receiveLogs(deps, orgId, { dataset, body }))) / 1000);
  };
}

/** Stores each batch on both sides in turn. */
async function measureIngest(
  sides: { local: Storage; bucket: Storage },
  orgId: InProcessProgram['orgId'],
): Promise<BenchmarkRow> {
  const rates = await measureInTurn(batches, {
    tocsin: createIngest(sides.bucket, orgId),
    baseline: createIngest(sides.local, orgId),
    better: 'more',
  });
  now = hours(batches);
  return { label: `events stored durably, ${eventsPerBatch} per request`, unit: 'events/s', ...rates };
}

const scenarios = [
  {
    label: 'rows of one hour (one file)',
    hours: [10, 11],
    query: (dataset: string) => `SELECT _id, _time, "user", country FROM ${dataset} WHERE outcome = 'failure'`,
    rows: eventsPerBatch / 10,
  },
  {
    label: `groups of two days (${batches} files)`,
    hours: [0, batches],
    query: (dataset: string) => `SELECT "user", count(*) AS count FROM ${dataset} GROUP BY 1`,
    rows: 500,
  },
] as const;

/** Returns the milliseconds of one query and fails if it returns another number of rows than expected. */
async function measureQuery(
  { deps, dataset }: Storage,
  orgId: InProcessProgram['orgId'],
  scenario: (typeof scenarios)[number],
): Promise<number> {
  const window = { from: hours(scenario.hours[0]), to: hours(scenario.hours[1]), clock: 'ingest' as const };
  let rows = 0;
  const ms = await measureMs(async () => {
    rows = (await searchLogs(deps, orgId, { query: scenario.query(dataset), window, limits })).rows.length;
  });
  if (rows !== scenario.rows)
    throw new Error(`${scenario.label} of ${dataset}: ${rows} rows instead of ${scenario.rows}`);
  return ms;
}

async function run(
  { deps, orgId }: InProcessProgram,
  url: string,
  report: (text: string) => void,
): Promise<BenchmarkRow[]> {
  const local = { deps, dataset: 'local' };
  report('storing the events');
  const lines: BenchmarkRow[] = [];
  await withNewMachine(deps, url, async (machine) => {
    const bucket = { deps: machine, dataset: 'bucket' };
    lines.push(await measureIngest({ local, bucket }, orgId));
    for (const scenario of scenarios) {
      report(scenario.label);
      const ofLocal = (): Promise<number> => measureQuery(local, orgId, scenario);
      const warm = (): Promise<number> => measureQuery(bucket, orgId, scenario);
      await ofLocal();
      await warm();
      const cold = (): Promise<number> =>
        withNewMachine(deps, url, async (added) => {
          await searchLogs(added, orgId, {
            query: 'SELECT 1 AS n',
            window: { from, to: hours(1), clock: 'ingest' },
            limits,
          });
          return measureQuery({ deps: added, dataset: 'bucket' }, orgId, scenario);
        });
      for (const [cache, measure] of Object.entries({ cold, warm })) {
        const measured = await measureInTurn(rounds, { tocsin: measure, baseline: ofLocal, better: 'less' });
        lines.push({ label: `${scenario.label}, ${cache} cache`, unit: 'ms', ...measured });
      }
    }
  });
  return lines;
}

export const objectStorageBenchmark: Benchmark = {
  title: `Logs on object storage against local files (${batches * eventsPerBatch} events)`,
  note: 'The bucket is an S3 server in the process of the benchmark, without the latency of a network. It shares the processor with Tocsin. With a cold cache, the query downloads every file that it reads.',
  run: async (report) => {
    const storage = await startFauxqs({ port: 0, logger: false });
    storage.createBucket('logs');
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' });
    try {
      const url = `s3://logs/bench?endpoint=http://127.0.0.1:${storage.port}`;
      return await withInProcessProgram(
        (program) => run(program, url, report),
        () => now,
      );
    } finally {
      await storage.stop();
    }
  },
};
