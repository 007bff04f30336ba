import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/support/at-file-end.ts';
import { createTestFolder, failureOf, startLogStore } from '../../../../test/support/detection/log-store.ts';
import { s3Faults, startS3Server } from '../../../../test/support/detection/s3-server.ts';
import { createLogger, type Logger } from '../../../platform/lib/logging/logger.ts';
import { parseLogsUrl, type BucketAddress } from '../../../platform/lib/storage/logs-url.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { createEngine } from '../../log-engine/process/engine.ts';
import { searchLogs } from '../../log-query/search/search-logs.ts';
import { removeOrphanedFiles, removeReplacedFiles, removeUnlistedCopies } from '../../log-compaction/clean-segments.ts';
import { compactSegments } from '../../log-compaction/compact-segments.ts';
import { eraseFromLogs } from '../../log-compaction/erase-from-logs.ts';
import { createCatalogCache } from '../catalog/catalog.store.ts';
import { createBucket } from './s3-bucket.ts';
import { createSegmentStore } from './create-segment-store.ts';
import { startPublishing, type SegmentStore } from './segment-store.ts';

const s3 = await startS3Server();
const { hostname: bucketName } = new URL(s3.url);
const openStore = (url = s3.url): SegmentStore => {
  const store = createSegmentStore(
    { dataDir: createTestFolder(), logs: { bucket: parseLogsUrl(url) as BucketAddress, cacheBytes: 100_000_000 } },
    { log: createLogger('silent') },
  );
  atFileEnd(() => store.close());
  return store;
};
const store = await startLogStore(openStore());
const { deps, send } = store;

/** Another machine: it shares the database and the bucket, but no folder. */
const elsewhere = openStore();
const engine = createEngine({ directoryOf: elsewhere.folderOf });
afterAll(() => engine.close());
const remote = { ...deps, segmentStore: elsewhere, engine, logCatalogs: createCatalogCache() };
const allTime = { from: new Date('1990-01-01'), to: new Date('2100-01-01'), clock: 'event' as const };
const searchElsewhere = async (org: OrgId, query: string): Promise<unknown[]> => {
  const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 30_000 };
  return (await searchLogs(remote, org, { query, window: allTime, limits })).rows;
};
const objectsOf = async (org: OrgId): Promise<string[]> => {
  const paths: string[] = [];
  for await (const { orgId, files } of deps.segmentStore.list())
    if (orgId === org) paths.push(...files.map(({ path }) => path));
  return paths;
};
const numbersOf = async (org: OrgId): Promise<unknown[]> =>
  (await searchElsewhere(org, 'SELECT n FROM auth ORDER BY n')).map((row) => (row as { n: number }).n);

test('another machine queries, compacts and erases what this one stored', async () => {
  const org = await store.newOrg();
  for (const n of [1, 2, 3]) await send(org, 'auth', [{ n, who: `person ${n}` }]);
  expect(await numbersOf(org)).toEqual([1, 2, 3]);
  await compactSegments(remote, {
    filesMin: 2,
    filesMax: 50,
    bytesMax: 10_000_000,
    rowsMax: 1_000_000,
    hourRowsMin: 1,
  });
  expect(await objectsOf(org)).toHaveLength(5);
  expect((await store.search(org, 'SELECT n FROM auth')).rows).toHaveLength(3);
  await removeReplacedFiles(deps, 0);
  const published = [
    expect.stringMatching(/^dataset=auth\/_manifest\.json$/),
    expect.stringMatching(/^dataset=auth\/date=2024-06-01\/hour=00\/[0-9a-f-]+\.parquet$/),
  ];
  expect((await objectsOf(org)).toSorted()).toEqual(published);
  expect(await eraseFromLogs(deps, org, { field: 'who', value: 'person 2' })).toBe(1);
  expect((await objectsOf(org)).toSorted()).toEqual(published);
  await removeUnlistedCopies(remote);
  expect(elsewhere.listCopies().find(({ orgId }) => orgId === org)).toBeUndefined();
  expect(await searchElsewhere(org, 'SELECT who FROM auth ORDER BY n')).toEqual([
    { who: 'person 1' },
    { who: '[erased]' },
    { who: 'person 3' },
  ]);
});

test.each(s3Faults)('repeats a request whose connection or server fails: %s', async (fault) => {
  const org = await store.newOrg();
  s3.fail('PUT', fault, 1);
  await send(org, 'auth', [{ n: 1 }]);
  s3.fail('GET', fault, 1);
  expect(await numbersOf(org)).toEqual([1]);
  expect(await removeOrphanedFiles(deps, 0)).toBe(0);
});

test.each(['before', 'after'] as const)(
  'accepts nothing and leaves no object if the bucket stays unavailable: %s',
  async (fault) => {
    const org = await store.newOrg();
    await send(org, 'auth', [{ n: 1 }]);
    s3.fail('PUT', fault, 4);
    await expect(send(org, 'auth', [{ n: 2 }])).rejects.toMatchObject({ code: 'unavailable' });
    await removeOrphanedFiles(deps, 0);
    expect(await objectsOf(org)).toHaveLength(1);
    s3.fail('GET', fault, 4);
    const failure = await failureOf(searchElsewhere(org, 'SELECT n FROM auth'));
    expect(failure).toMatchObject({ kind: 'engine_failed', retryable: true });
    await send(org, 'auth', [{ n: 2 }]);
    expect(await numbersOf(org)).toEqual([1, 2]);
  },
);

test('downloads a file once for simultaneous queries', async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ n: 1 }]);
  const before = s3.requests.length;
  await Promise.all([numbersOf(org), numbersOf(org), numbersOf(org)]);
  expect(s3.requests.slice(before)).toEqual(['GET']);
});

test('removes the object of a process that was killed before it published, but not a recent one', async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ n: 1 }]);
  writeFileSync(join(deps.segmentStore.folderOf(org), 'auth', 'left.events'), 'id\t0\t{}\n');
  await deps.segmentStore.put(org, 'auth/left.events');
  expect(await removeOrphanedFiles(deps)).toBe(0);
  expect(await removeOrphanedFiles(deps, 0)).toBe(1);
  expect(existsSync(join(deps.segmentStore.folderOf(org), 'auth', 'left.events'))).toBe(false);
  expect(await numbersOf(org)).toEqual([1]);
});

test('a writer that took too long does not publish', () => {
  let nowMs = 0;
  const check = startPublishing(() => nowMs);
  nowMs = 29 * 60_000;
  check();
  nowMs = 31 * 60_000;
  expect(check).toThrow('Storing took too long');
});

test('an unusable bucket is named with its host', async () => {
  const missing = openStore(s3.url.replace(bucketName, 'absent'));
  const { host } = new URL(new URL(s3.url).searchParams.get('endpoint')!);
  await expect(missing.probe()).rejects.toThrow(`The bucket absent at ${host} did not store`);
});

test.skipIf(!existsSync('/dev/full'))('a full local disk is logged, and not tried again', async () => {
  const lines: string[] = [];
  const log = { error: (_fields: object, line: string) => lines.push(line) } as unknown as Logger;
  const bucket = createBucket(parseLogsUrl(s3.url) as BucketAddress, log);
  atFileEnd(() => bucket.close());
  await bucket.putText('copy', 'text');
  await expect(bucket.getFile('copy', '/dev/full')).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(lines).toEqual([`The local disk is full, so the bucket ${bucketName} could not return tocsin/copy.`]);
});
