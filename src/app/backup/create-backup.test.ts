import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  backUpApp,
  hashesOf,
  isEmpty,
  restoreApp,
  startFilledApp,
  storeOf,
  type RestoreTarget,
  type Restored,
} from '../../../test/support/backups.ts';
import { newEmptyDatabase, testDatabase } from '../../../test/support/database.ts';
import { newDataDir, type TestOrg } from '../../../test/support/harness.ts';
import { createCaller, type ApiCall } from '../../../test/support/api-client.ts';
import { startProgram } from '../../../test/support/program.ts';
import { runStatements } from '../../../test/support/run-statements.ts';
import { eraseFromLogs } from '../../detection/log-compaction/erase-from-logs.ts';
import { compactSegments } from '../../detection/log-compaction/compact-segments.ts';
import { removeReplacedFiles } from '../../detection/log-compaction/clean-segments.ts';
import type { SegmentStore } from '../../detection/log-store/files/segment-store.ts';
import { isMigrated } from '../../platform/db/migrate.ts';
import { keyFilePath } from '../../platform/lib/secretbox.ts';
import { openBackupLocation } from './backup-location.ts';
import type { BackupOptions } from './create-backup.ts';
import { verifyBackup } from './read-archive.ts';

const source = await startFilledApp();
const { deps } = source;
const folder = newDataDir();
const passphrase = 'correct horse battery';

const backUp = (target: string, more?: Partial<BackupOptions>) => backUpApp(source, target, more);
const restore = (from: string, more?: RestoreTarget) => restoreApp(source, from, more);
const filesIn = (dir: string): string[] =>
  (readdirSync(join(dir, 'logs'), { recursive: true }) as string[]).filter((name) =>
    /[.](events|columns|parquet)$/.test(name),
  );

test('restores every row and log file, into a database without tables and into a migrated one', async () => {
  const file = join(folder, 'plain');
  writeFileSync(`${file}.partial`, 'left by a killed process');
  const written = await backUp(file);
  expect(existsSync(`${file}.partial`)).toBe(false);
  expect(Object.values(written.tables).filter(({ lines }) => lines > 0).length).toBeGreaterThan(60);
  expect(await verifyBackup(openBackupLocation(file), undefined)).toEqual(written);
  const expected = await hashesOf(source.url);
  const migrated = await testDatabase();
  for (const target of [await newEmptyDatabase(), migrated.url]) {
    const restored = await restore(file, { url: target });
    expect(await hashesOf(target)).toEqual(expected);
    expect(filesIn(restored.dataDir)).toHaveLength(restored.checksums.logs.files);
    // The backup is not encrypted, so it does not contain the key.
    expect(restored.isKeyMissing).toBe(true);
    expect(existsSync(keyFilePath(restored.dataDir))).toBe(false);
    expect(await storeOf(restored.dataDir).readId()).not.toBe(await deps.segmentStore.readId());
  }
  expect(await isMigrated(migrated.db)).toBe(true);
  // Row-level security is on again: without an organization, a tenant sees nothing.
  expect(await runStatements(migrated.url, 'set role tocsin_app', 'select 1 from agents')).toEqual([]);
});

const mergeLimits = { filesMin: 2, filesMax: 50, bytesMax: 1e8, rowsMax: 1e6, hourRowsMin: 1 };

test('is consistent while events arrive, segments are merged and replaced files are due for removal, and a service works with it', async () => {
  const file = join(folder, 'load');
  const published = await publishEvent();
  const { id, key, call } = await source.newOrg();
  const created = await call('POST', '/api/detections', breachDetection);
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  await call('POST', '/api/logs/web', JSON.stringify([{ user: 'eve', action: 'breach', time: timeOfBreach }]));
  const load = new AbortController();
  const sendEvents = async (dataset: string): Promise<void> => {
    for (let n = 0; !load.signal.aborted; n += 1)
      await call('POST', `/api/logs/${dataset}`, JSON.stringify([{ n, time: new Date().toISOString() }]));
  };
  const merging = async (): Promise<void> => {
    while (!load.signal.aborted) {
      await compactSegments(deps, mergeLimits);
      await removeReplacedFiles(deps, 0);
    }
  };
  const working = [sendEvents('web'), sendEvents('dns'), merging()];
  await expect.poll(async () => (await storedEvents(source.url, id)).length).toBe(2);
  await backUp(file);
  load.abort();
  await Promise.all(working);
  const restored = await restore(file);
  const events = await storedEvents(restored.url, id);
  expect(events).toHaveLength(2);
  // Both are written in one transaction per batch.
  for (const { events: counted, rows } of events) expect(rows).toBe(counted);
  const stored = (await runStatements(
    restored.url,
    'select organization_id as org, path, bytes::int from segments where replaced_at is null',
  )) as { org: string; path: string; bytes: number }[];
  for (const { org: owner, path, bytes } of stored)
    expect(readFileSync(join(restored.dataDir, 'logs', owner, path)).length, path).toBe(bytes);
  expect(await removeReplacedFiles(deps, 0)).toBeGreaterThanOrEqual(0);
  expect(existsSync(join(restored.dataDir, 'logs', published.id, 'dataset=web', '_manifest.json'))).toBe(false);
  const env = { DATABASE_URL: restored.url, TOCSIN_SECRET_KEY: 'k'.repeat(32) };
  const program = await startProgram(restored.dataDir, env);
  try {
    await expectBreachFound(createCaller(program.url, key), created.body.id);
    await expectPublished(restored, published, program.url);
  } finally {
    await program.kill('SIGTERM');
  }
});

const timeOfBreach = new Date(Date.now() - 60_000).toISOString();
const breachDetection = {
  name: 'Breach',
  detectionQuery: "SELECT user, action, _id, _time FROM web WHERE action = 'breach'",
  detectionCategory: 'custom',
  detectionCadence: 'hourly',
  systemPrompt: 'Judge it.',
  entityField: 'user',
};

/** Has the restored installation run the detection on the restored logs. */
async function expectBreachFound(call: ApiCall, detection: string): Promise<void> {
  const window = { from: new Date(Date.now() - 3_600_000), to: new Date() };
  await call('POST', `/api/detections/${detection}/run`, window);
  const listRuns = async () => (await call('GET', `/api/detections/${detection}/runs`)).runs as { status: string }[];
  await expect.poll(listRuns, { timeout: 60_000 }).toContainEqual(expect.objectContaining({ status: 'completed' }));
  const { hits } = await call('GET', '/api/hits');
  expect(hits).toMatchObject([{ entity: 'eve' }]);
}

/** Sends an event as if it was two days ago, and merges it to a file that other engines read. Returns the organization. */
async function publishEvent(): Promise<TestOrg> {
  const org = await source.newOrg();
  await org.call('POST', '/api/logs/web', JSON.stringify([{ user: 'eve', action: 'breach', time: timeOfBreach }]));
  const earlier = "ingested_from - interval '2 days'";
  await runStatements(
    source.url,
    `update segments set ingested_from = ${earlier}, ingested_to = ${earlier} where organization_id = '${org.id}'`,
  );
  while (await compactSegments(deps, mergeLimits));
  return org;
}

/** The service writes the list of the files for other engines, which a backup does not contain. */
async function expectPublished({ dataDir }: Restored, { id, key }: TestOrg, url: string): Promise<void> {
  const manifest = join(dataDir, 'logs', id, 'dataset=web', '_manifest.json');
  await expect.poll(() => existsSync(manifest)).toBe(true);
  const { files } = JSON.parse(readFileSync(manifest, 'utf8')) as { files: { path: string; bytes: number }[] };
  expect(files).toHaveLength(1);
  expect(readFileSync(join(dirname(manifest), files[0]!.path))).toHaveLength(files[0]!.bytes);
  const search = { query: 'SELECT user FROM web', from: new Date(Date.now() - 3_600_000), to: new Date() };
  const { rows } = await createCaller(url, key)('POST', '/api/logs/search', search);
  expect(rows).toEqual([{ user: 'eve' }]);
}

type EventCount = { name: string; events: number; rows: number };
const storedEvents = (databaseUrl: string, orgId: string): Promise<EventCount[]> =>
  runStatements(
    databaseUrl,
    `select d.name, d.events::int as events, sum(s.rows)::int as rows from datasets d join segments s
     on s.organization_id = d.organization_id and s.dataset = d.name and s.replaced_at is null
     where d.organization_id = '${orgId}' group by d.name, d.events order by 1`,
  ) as Promise<EventCount[]>;

test('begins again without a value that is erased from the logs meanwhile', async () => {
  const file = join(folder, 'erased');
  const { id, call } = await source.newOrg();
  await call('POST', '/api/logs/web', JSON.stringify([{ user: 'mallory', time: new Date().toISOString() }]));
  const reports: string[] = [];
  let erased: Promise<number> | undefined;
  const segmentStore: SegmentStore = {
    ...deps.segmentStore,
    lease: async (orgId, segments) => {
      if (orgId === id) await (erased ??= eraseFromLogs(deps, id, { field: 'user', value: 'mallory' }));
      return deps.segmentStore.lease(orgId, segments);
    },
  };
  await backUp(file, { segmentStore, report: (text) => reports.push(text) });
  expect(await erased).toBe(1);
  expect(reports).toContain('A value was erased from the logs meanwhile. The backup begins again.');
  const { dataDir } = await restore(file);
  expect(filesIn(dataDir).filter((name) => readFileSync(join(dataDir, 'logs', name)).includes('mallory'))).toEqual([]);
});

test('encrypts with a passphrase, and then contains the generated key', async () => {
  const file = join(folder, 'encrypted');
  const { call } = await source.newOrg();
  const destination = { kind: 'webhook', name: 'w', url: 'https://hooks.example.org/secret-path', secret: null };
  await call('POST', '/api/destinations', destination);
  await backUp(file, { config: { ...deps.config, backupPassphrase: passphrase } });
  const database = await newEmptyDatabase();
  await expect(restore(file, { url: database })).rejects.toThrow(/is encrypted. Set TOCSIN_BACKUP_PASSPHRASE/);
  await expect(restore(file, { url: database, passphrase: `${passphrase}!` })).rejects.toThrow(/cannot be decrypted/);
  expect(await isEmpty(database)).toBe(true);
  const restored = await restore(file, { url: database, passphrase });
  expect(restored.isKeyMissing).toBe(false);
  const keys = [source.dataDir, restored.dataDir].map((dir) => readFileSync(keyFilePath(dir), 'utf8'));
  expect(keys[0]).toBe(keys[1]);
});
