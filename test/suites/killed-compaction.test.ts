import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parquetMetadata } from 'hyparquet';
import { afterAll, expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';
import { parseLogsUrl, type BucketAddress } from '../../src/platform/lib/storage/logs-url.ts';
import { removeOrphanedFiles, removeReplacedFiles } from '../../src/detection/log-compaction/clean-segments.ts';
import { compactSegments } from '../../src/detection/log-compaction/compact-segments.ts';
import { writeDueManifests } from '../../src/detection/log-store/write-manifests.ts';
import { createSegmentStore } from '../../src/detection/log-store/files/create-segment-store.ts';
import { createBucket } from '../../src/detection/log-store/files/s3-bucket.ts';
import { createTestFolder, startLogStore } from '../support/detection/log-store.ts';
import { readPublished } from '../support/detection/published-files.ts';
import { s3Credentials, startS3Server } from '../support/detection/s3-server.ts';
import { startProgram, until, type Program } from '../support/program.ts';
import { selectIn } from '../support/select-rows.ts';

/*
 * Processes `tocsin work` that are killed with kill -9 while they merge log files, at moments that differ between runs. Before each, there
 * are days whose events have not been merged. Another engine reads the files between the kills and afterwards.
 */
const kills = 2;
const daysPerKill = 5;
const batchesPerDay = 2;
const eventsPerBatch = 300;
const dayMs = 86_400_000;
const today = Math.floor(Date.now() / dayMs) * dayMs;
const s3 = await startS3Server();

const programs: Program[] = [];
afterAll(() => Promise.all(programs.map((program) => program.kill('SIGKILL'))));

type Installation = { dataDir: string; env: Record<string, string>; read: (path: string) => Promise<Buffer> };

function installInFolder(): Installation {
  const dataDir = createTestFolder();
  return { dataDir, env: {}, read: (path) => readFile(join(dataDir, 'logs', path)) };
}

function installOnBucket(): Installation {
  const bucket = createBucket(parseLogsUrl(s3.url) as BucketAddress, createLogger('silent'));
  atFileEnd(() => bucket.close());
  const target = join(createTestFolder(), 'object');
  const read = async (path: string): Promise<Buffer> => {
    await bucket.getFile(path, target);
    return readFile(target);
  };
  return { dataDir: createTestFolder(), env: { ...s3Credentials, TOCSIN_LOGS_URL: s3.url }, read };
}

async function startStore({ env }: Installation, dataDir: string) {
  const url = env['TOCSIN_LOGS_URL'];
  const logs = { bucket: url === undefined ? null : (parseLogsUrl(url) as BucketAddress), cacheBytes: 100_000_000 };
  const segmentStore = createSegmentStore({ dataDir, logs }, { log: createLogger('silent') });
  atFileEnd(() => segmentStore.close());
  return startLogStore(segmentStore);
}

test.each(['folder', 'bucket'])(
  'killed while it merges the files of a %s, a worker loses and repeats no event',
  { timeout: 300_000 },
  async (kind) => {
    const installation = kind === 'bucket' ? installOnBucket() : installInFolder();
    const { dataDir, read } = installation;
    const store = await startStore(installation, dataDir);
    const { deps } = store;
    const org = await store.newOrg();
    const listStored = async (): Promise<string[]> => {
      const paths: string[] = [];
      for await (const { files } of deps.segmentStore.list()) paths.push(...files.map(({ path }) => path));
      return paths;
    };
    const countMerged = async (): Promise<number> =>
      (await selectIn(deps.db)`select from segments where published`).length;
    let sent = 0;
    const sendDays = async (round: number): Promise<void> => {
      for (let batch = 0; batch < daysPerKill * batchesPerDay; batch += 1) {
        const day = today - (1 + round * daysPerKill + Math.floor(batch / batchesPerDay)) * dayMs;
        store.at(new Date(day + batch * 60_000).toISOString());
        await store.send(
          org,
          'auth',
          Array.from({ length: eventsPerBatch }, () => ({ n: sent++, pad: 'x'.repeat(200) })),
        );
      }
    };

    for (let round = 0; round < kills; round += 1) {
      await sendDays(round);
      const merged = await countMerged();
      const env = { DATABASE_URL: store.url, TOCSIN_SECRET_KEY: 'k'.repeat(32), ...installation.env };
      const worker = await startProgram(dataDir, env, 'work --only ingest');
      programs.push(worker);
      await until(async () => (await countMerged()) > merged, worker.output, worker.hasEnded);
      await sleep(Math.random() * 400);
      expect(await worker.kill('SIGKILL')).toBe('SIGKILL');
      // Every file that an engine finds is complete.
      const found = (await listStored()).filter((path) => path.startsWith('dataset='));
      for (const path of found) if (path.endsWith('.parquet')) await readMetadata(() => read(`${org}/${path}`));
      expect(found.filter((path) => !/\.parquet$|\/_manifest\.json$/.test(path))).toEqual([]);
    }

    while (await compactSegments(deps));
    await writeDueManifests(deps);
    await removeReplacedFiles(deps, 0);
    await removeOrphanedFiles(deps, 0);
    const listed = await selectIn(deps.db)<{ path: string }>`select path from segments`;
    expect((await listStored()).toSorted()).toEqual(
      [...listed.map(({ path }) => path), 'dataset=auth/_manifest.json'].toSorted(),
    );
    const { manifest, rows } = await readPublished((path) => read(`${org}/dataset=auth/${path}`));
    expect(manifest.files.map(({ path }) => `dataset=auth/${path}`).toSorted()).toEqual(
      listed.map(({ path }) => path).toSorted(),
    );
    expect(rows.map(({ n }) => Number(n)).toSorted((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, n) => n));
    expect(new Set(rows.map((row) => row['_id'])).size).toBe(sent);
    const query = 'SELECT count(*) AS n, count(DISTINCT n) AS distinct_n, sum(n) AS total FROM auth';
    expect((await store.search(org, query)).rows).toEqual([
      { n: sent, distinct_n: sent, total: (sent * (sent - 1)) / 2 },
    ]);
  },
);

/** Throws unless the file is a complete Parquet file. */
async function readMetadata(read: () => Promise<Buffer>): Promise<void> {
  const file = await read();
  parquetMetadata(file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer);
}
