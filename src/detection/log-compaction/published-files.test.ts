import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { createTestFolder, startLogStore } from '../../../test/support/detection/log-store.ts';
import { listTypes, readPublished } from '../../../test/support/detection/published-files.ts';
import { startS3Server } from '../../../test/support/detection/s3-server.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { parseLogsUrl, type BucketAddress } from '../../platform/lib/storage/logs-url.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { exactTimes } from '../siem/connector.ts';
import { expireSegmentsAcrossOrgs } from '../log-store/segments.store.ts';
import { createSegmentStore } from '../log-store/files/create-segment-store.ts';
import { createBucket } from '../log-store/files/s3-bucket.ts';
import type { SegmentStore } from '../log-store/files/segment-store.ts';
import { writeDueManifests } from '../log-store/write-manifests.ts';
import { removeOrphanedFiles, removeReplacedFiles } from './clean-segments.ts';
import { compactSegments } from './compact-segments.ts';
import { eraseFromLogs } from './erase-from-logs.ts';

const store = await startLogStore();
const { deps, send } = store;
const limits = { filesMin: 2, filesMax: 50, bytesMax: 10_000_000, rowsMax: 1_000_000, hourRowsMin: 2 };

async function compactAll(on = store): Promise<void> {
  while (await compactSegments(on.deps, limits));
}

const folderOf = (org: OrgId): string => deps.segmentStore.folderOf(org);
const readDataset = (org: OrgId, dataset: string) =>
  readPublished((path) => readFile(join(folderOf(org), `dataset=${dataset}`, path)));
const listFiles = (org: OrgId): string[] =>
  readdirSync(folderOf(org), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folderOf(org).length + 1));

/** Sends events at a time of 1 June 2024. */
async function sendAt(org: OrgId, time: string, events: unknown[] | string, dataset = 'auth'): Promise<void> {
  store.at(`2024-06-01T${time}:00Z`);
  await send(org, dataset, events);
}

const typedEvent =
  `{"id":9007199254740993,"at":"2024-06-01T04:59:59.123456Z","ok":true,"ratio":0.1,"user":{"name":"Zoë","roles":["a",1]},
"ports":[80,9007199254740993],"times":["2024-01-01T00:00:00Z"],"Größe":"日本","date":"today","hour":7,"empty":[],"nothing":null}`.replaceAll(
    '\n',
    '',
  );

const bucketServer = await startS3Server();

/** Opens a log store on a bucket, and what reads its files without it. */
async function startOnBucket() {
  const address = parseLogsUrl(bucketServer.url) as BucketAddress;
  const logs = { bucket: address, cacheBytes: 100_000_000 };
  const segmentStore = createSegmentStore({ dataDir: createTestFolder(), logs }, { log: createLogger('silent') });
  const bucket = createBucket(address, createLogger('silent'));
  atFileEnd(() => {
    segmentStore.close();
    bucket.close();
  });
  const target = join(createTestFolder(), 'object');
  const read = async (key: string): Promise<Buffer> => {
    await bucket.getFile(key, target);
    return readFile(target);
  };
  return { ...(await startLogStore(segmentStore)), read };
}

test.each(['folder', 'bucket'])('another engine reads the events of a %s with their types', async (kind) => {
  const onBucket = kind === 'bucket' ? await startOnBucket() : undefined;
  const on = onBucket ?? store;
  const org = await on.newOrg();
  const read = (path: string): Promise<Buffer> =>
    onBucket ? onBucket.read(`${org}/dataset=order/${path}`) : readFile(join(folderOf(org), 'dataset=order', path));
  on.at('2024-06-01T05:10:00Z');
  await on.send(org, 'order', `${typedEvent}\n${typedEvent}`);
  on.at('2024-06-01T06:10:00Z');
  await on.send(org, 'order', [{ id: 1 }, { id: 2, later: 'é' }]);
  await compactAll(on);
  const { manifest, rows } = await readPublished(read);
  expect(manifest).toMatchObject({ version: 1, dataset: 'order', rows: 4 });
  expect(manifest.files.map(({ path }) => path.replace(/[^/]+$/, ''))).toEqual([
    'date=2024-06-01/hour=05/',
    'date=2024-06-01/hour=06/',
  ]);
  expect(Object.fromEntries(manifest.columns.map(({ name, type }) => [name, type]))).toEqual({
    _id: 'VARCHAR',
    _time: 'TIMESTAMP',
    _ingested: 'TIMESTAMP',
    _event: 'JSON',
    id: 'BIGINT',
    at: 'TIMESTAMP',
    ok: 'BOOLEAN',
    ratio: 'DOUBLE',
    user: 'JSON',
    ports: 'BIGINT[]',
    times: 'TIMESTAMP[]',
    Größe: 'VARCHAR',
    date_: 'VARCHAR',
    hour_: 'BIGINT',
    empty: 'JSON',
    later: 'VARCHAR',
  });
  const [first] = rows;
  expect(first).toMatchObject({
    _ingested: '2024-06-01T05:10:00.000Z',
    _event: typedEvent,
    id: 9007199254740993n,
    at: '2024-06-01T04:59:59.123Z',
    ok: true,
    ratio: 0.1,
    user: '{"name":"Zoë","roles":["a",1]}',
    ports: [80n, 9007199254740993n],
    times: ['2024-01-01T00:00:00.000Z'],
    Größe: '日本',
    date_: 'today',
    hour_: 7n,
    empty: '[]',
    date: '2024-06-01',
    hour: '05',
  });
  expect(rows.map(({ id, later }) => [id, later ?? null])).toEqual([
    [9007199254740993n, null],
    [9007199254740993n, null],
    [1n, null],
    [2n, 'é'],
  ]);
  const types = listTypes(await read(manifest.files[0]!.path));
  expect(types).toMatchObject({ _id: 'UTF8', _time: 'TIMESTAMP_MICROS UTC', id: 'INT_64', at: 'TIMESTAMP_MICROS UTC' });
  const own = (
    await on.search(org, 'SELECT id, "at", ports, times, date, hour, empty FROM "order" ORDER BY id LIMIT 3')
  ).rows;
  expect(own[2]).toEqual({
    id: '9007199254740993',
    at: '2024-06-01T04:59:59.123Z',
    ports: [80, '9007199254740993'],
    times: ['2024-01-01T00:00:00.000Z'],
    date: 'today',
    hour: 7,
    empty: [],
    [exactTimes]: { at: Date.UTC(2024, 5, 1, 4, 59, 59, 123) * 1000 + 456 },
  });
});

test('all files of a dataset agree on the type of a column, whatever it becomes', async () => {
  const org = await store.newOrg();
  await sendAt(org, '05:00', [
    { n: 1, m: 'x' },
    { n: 2, m: 'y' },
  ]);
  await compactAll();
  await sendAt(
    org,
    '06:00',
    Array.from({ length: 30 }, (_, n) => ({ n: `text ${n}`, m: n, l: [n] })),
  );
  await sendAt(org, '06:10', [{ n: 3 }, { N: 4, later: true }]);
  const query = 'SELECT n, m, l, later FROM auth ORDER BY _ingested, _id';
  const before = (await store.search(org, query)).rows;
  expect(before).toContainEqual({ n: 'text 7', m: 7, l: [7], later: null });
  await compactAll();
  expect((await store.search(org, query)).rows).toEqual(before);
  const { manifest, rows } = await readDataset(org, 'auth');
  const types = await Promise.all(
    manifest.files.map(async ({ path }) => listTypes(await readFile(join(folderOf(org), 'dataset=auth', path)))),
  );
  expect(types[1]).toMatchObject(types[0]!);
  expect(rows.map(({ n }) => n)).toEqual([1n, 2n, ...Array<null>(30).fill(null), 3n, 4n]);
  expect(rows.find(({ m }) => m === '7')).toMatchObject({ _event: '{"n":"text 7","m":7,"l":[7]}', l: [7n] });
});

test('quiet hours share a file of their day', async () => {
  const org = await store.newOrg();
  await sendAt(org, '03:00', [{ n: 1 }]);
  await sendAt(org, '05:00', [{ n: 2 }, { n: 3 }]);
  await sendAt(org, '07:00', [{ n: 4 }]);
  await compactAll();
  const { rows } = await readDataset(org, 'auth');
  expect(rows.map(({ n, date, hour }) => [n, date, hour])).toEqual([
    [1n, '2024-06-01', '24'],
    [4n, '2024-06-01', '24'],
    [2n, '2024-06-01', '05'],
    [3n, '2024-06-01', '05'],
  ]);
});

test('an hour is published after its end, and merged for queries before', async () => {
  const org = await store.newOrg();
  store.at(new Date().toISOString());
  for (const n of [1, 2, 3]) await send(org, 'auth', [{ n, text: 'a' }]);
  await compactAll();
  await removeReplacedFiles(deps, 0);
  expect(listFiles(org)).toEqual([expect.stringMatching(/^auth\/[0-9a-f-]+\.columns$/)]);
  for (const n of [4, 5]) await send(org, 'auth', [{ n, text: 5 }]);
  await compactAll();
  expect((await store.search(org, 'SELECT n FROM auth ORDER BY n')).rows.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5]);
});

test('an erasure leaves neither an old file nor the value, and retention no file', async () => {
  const org = await store.newOrg();
  await sendAt(org, '05:00', [
    { who: 'mallory', n: 1 },
    { who: 'ada', n: 2 },
  ]);
  await compactAll();
  const [old] = (await readDataset(org, 'auth')).manifest.files;
  expect(await eraseFromLogs(deps, org, { field: 'who', value: 'mallory' })).toBe(1);
  expect(existsSync(join(folderOf(org), 'dataset=auth', old!.path))).toBe(false);
  const { manifest, rows } = await readDataset(org, 'auth');
  expect(manifest.files.map(({ path }) => path.replace(/[^/]+$/, ''))).toEqual(['date=2024-06-01/hour=05/']);
  expect(rows.map(({ who, n }) => [who, n])).toEqual([
    ['[erased]', 1n],
    ['ada', 2n],
  ]);
  expect(listFiles(org)).toHaveLength(2);
  await acrossOrgs(deps.db, (tx) =>
    expireSegmentsAcrossOrgs(tx, { before: new Date('2024-06-02T00:00:00Z'), only: [org], except: [] }),
  );
  await writeDueManifests(deps);
  await removeReplacedFiles(deps, 0);
  expect(await readDataset(org, 'auth')).toMatchObject({ manifest: { rows: 0, files: [] }, rows: [] });
  expect(readdirSync(join(folderOf(org), 'dataset=auth'))).toEqual(['_manifest.json']);
  // Also when it is an hour old.
  expect(await removeOrphanedFiles(deps, 0)).toBe(0);
});

test('organizations have folders and manifests of their own', async () => {
  const [one, other] = [await store.newOrg(), await store.newOrg()];
  for (const org of [one, other]) await sendAt(org, '05:00', [{ org }, { org }]);
  await compactAll();
  for (const org of [one, other])
    expect((await readDataset(org, 'auth')).rows.map((row) => row['org'])).toEqual([org, org]);
});

test('a process that is killed before it publishes leaves a file that is removed, and no event twice', async () => {
  const org = await store.newOrg();
  await sendAt(org, '05:00', [{ n: 1 }, { n: 2 }]);
  let stored = (): void => undefined;
  const isStored = new Promise<void>((resolve) => {
    stored = resolve;
  });
  const segmentStore: SegmentStore = {
    ...deps.segmentStore,
    // The process never comes back from here.
    put: () => (stored(), new Promise<never>(() => undefined)),
  };
  void compactSegments({ ...deps, segmentStore }, limits);
  await isStored;
  expect(listFiles(org)).toHaveLength(2);
  await compactAll();
  expect((await readDataset(org, 'auth')).rows.map(({ n }) => n)).toEqual([1n, 2n]);
  await removeReplacedFiles(deps, 0);
  expect(await removeOrphanedFiles(deps, 0)).toBe(1);
  expect(listFiles(org)).toHaveLength(2);
  expect((await readDataset(org, 'auth')).rows).toHaveLength(2);
});

test('a file is complete when an engine that reads the whole folder finds it', async () => {
  const org = await store.newOrg();
  await sendAt(org, '05:00', [{ n: 1 }, { n: 2 }]);
  const written: string[][] = [];
  const engine: typeof deps.engine = {
    ...deps.engine,
    async maintain(...input) {
      const rows = await deps.engine.maintain(...input);
      written.push(listFiles(org).filter((path) => !path.endsWith('.events')));
      return rows;
    },
  };
  await compactSegments({ ...deps, engine }, limits);
  expect(written).toEqual([[expect.stringMatching(/^[0-9a-f-]+\.partial$/)]]);
  expect((await readDataset(org, 'auth')).rows).toHaveLength(2);
  expect(listFiles(org).filter((path) => path.endsWith('.partial'))).toEqual([]);
});
