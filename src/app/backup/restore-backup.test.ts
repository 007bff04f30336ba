import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  backUpApp,
  isEmpty,
  restoreApp,
  startCommand,
  startFilledApp,
  storeOf,
  type RestoreTarget,
} from '../../../test/support/backups.ts';
import { newEmptyDatabase } from '../../../test/support/database.ts';
import { startS3Server } from '../../../test/support/detection/s3-server.ts';
import { newDataDir } from '../../../test/support/harness.ts';
import { runStatements } from '../../../test/support/run-statements.ts';
import { migrate } from '../../platform/db/migrate.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { openBackupLocation } from './backup-location.ts';
import type { BackupOptions } from './create-backup.ts';
import { verifyBackup } from './read-archive.ts';

const source = await startFilledApp();
const folder = newDataDir();

const backUp = (target: string, more?: Partial<BackupOptions>) => backUpApp(source, target, more);
const restore = (from: string, more?: RestoreTarget) => restoreApp(source, from, more);

test('detects every damage before it commits anything', async () => {
  const intact = join(folder, 'intact');
  await backUp(intact);
  const bytes = readFileSync(intact);
  const damaged = join(folder, 'damaged');
  const damage = (place: number): Uint8Array => bytes.with(place, bytes[place]! ^ 0x10);
  // A run of zeros unpacks to the same from several compressed forms.
  const unpacked = gunzipSync(bytes);
  const changes = (place: number): boolean => {
    try {
      return !gunzipSync(damage(place)).equals(unpacked);
    } catch {
      return true;
    }
  };
  const places = Array.from({ length: 8 }, (_, index) => {
    const start = Math.floor((bytes.length * (index + 0.5)) / 8);
    return Array.from({ length: 100 }, (_each, n) => start + n).find(changes)!;
  });
  for (const place of places) {
    writeFileSync(damaged, damage(place));
    await expect(verifyBackup(openBackupLocation(damaged), undefined), `byte ${place}`).rejects.toThrow();
    writeFileSync(damaged, bytes.subarray(0, place));
    await expect(verifyBackup(openBackupLocation(damaged), undefined), `first ${place} bytes`).rejects.toThrow();
  }
  const database = await newEmptyDatabase();
  writeFileSync(damaged, bytes.subarray(0, bytes.length - 100));
  await expect(restore(damaged, { url: database })).rejects.toThrow();
  expect(await isEmpty(database)).toBe(true);
  writeFileSync(damaged, 'something else');
  await expect(restore(damaged, { url: database })).rejects.toThrow('The file is not a backup.');
});

test('refuses a database or a log storage that is in use, and a backup of a newer version', async () => {
  const file = join(folder, 'refused');
  await backUp(file);
  await expect(restore(file, { url: source.url })).rejects.toThrow(/already contains an installation/);
  const dataDir = newDataDir();
  await storeOf(dataDir).writeId('id-of-an-installation');
  await expect(restore(file, { dataDir })).rejects.toThrow(/is the log storage of an installation/);
  await runStatements(source.url, "insert into migrations values ('9999_future.sql', '')");
  await backUp(file).finally(() => runStatements(source.url, "delete from migrations where name like '9999%'"));
  await expect(restore(file)).rejects.toThrow(/made by the newer version .* \(9999_future.sql\)/);
});

test('refuses a backup and a database of a development version', async () => {
  const file = join(folder, 'development');
  await backUp(file);
  const former = await newEmptyDatabase();
  await migrate(former);
  await runStatements(former, "update migrations set sha256 = 'other' where name like '0008%'");
  await expect(restore(file, { url: former })).rejects.toThrow(/^The database was created by a development version/);

  const [{ sha256 }] = (await runStatements(source.url, "select sha256 from migrations where name like '0008%'")) as [
    { sha256: string },
  ];
  const setHash = (text: string) => `update migrations set sha256 = '${text}' where name like '0008%'`;
  await runStatements(source.url, setHash('other'));
  await backUp(file).finally(() => runStatements(source.url, setHash(sha256)));
  const database = await newEmptyDatabase();
  await expect(restore(file, { url: database })).rejects.toThrow(
    /backup is of a database of a development version, whose migration 0008_logs.sql .*nothing was released before 0\.1\.0/,
  );
  expect(await isEmpty(database)).toBe(true);
});

test('backs up to a bucket, and lists the log files of one', async () => {
  const s3 = await startS3Server();
  const store = storeOf(newDataDir(), s3.url);
  const target = s3.url.replace('/tocsin?', '/backups/nightly?');
  await backUp(target);
  expect((await verifyBackup(openBackupLocation(target), undefined)).logs.files).toBeGreaterThan(0);
  const { url: moved } = await restore(target, { store });
  const list = join(folder, 'list');
  await backUp(list, { url: moved, segmentStore: store, logs: 'listed' });
  const database = await newEmptyDatabase();
  await expect(restore(list, { url: database })).rejects.toThrow(/is not the log storage of this installation/);
  const [gone] = (await runStatements(
    moved,
    'select organization_id as org, path from segments where replaced_at is null limit 1',
  )) as { org: OrgId; path: string }[];
  await store.remove(gone!.org, gone!.path);
  await expect(restore(list, { url: database, store })).rejects.toThrow(/no longer has 1 log files/);
  expect(await isEmpty(database)).toBe(true);
  const restored = await restore(list, { url: database, store, acceptMissingLogs: true });
  expect(restored.header.logs).toBe('listed');
  expect(await runStatements(database, 'select path from segments where replaced_at is not null')).toContainEqual({
    path: gone!.path,
  });
  store.close();
});

test('a killed backup leaves no file under its name, and a killed restore an empty database', async () => {
  const file = join(folder, 'killed');
  // A pipe stops the process in the middle, because nobody reads or writes the rest.
  execFileSync('mkfifo', [`${file}.partial`, `${file}.half`]);
  const env = { TOCSIN_DATA_DIR: newDataDir(), TOCSIN_SECRET_KEY: 'k'.repeat(32) };
  const backup = startCommand(['backup', file, '--logs', 'list'], { ...env, DATABASE_URL: source.url });
  const reading = await open(`${file}.partial`, 'r');
  expect((await reading.read(Buffer.alloc(1024), 0, 1024)).bytesRead).toBeGreaterThan(0);
  await backup.kill();
  await reading.close();
  expect(existsSync(file)).toBe(false);

  const intact = join(folder, 'intact-again');
  await backUp(intact);
  const bytes = readFileSync(intact);
  const database = await newEmptyDatabase();
  const restoring = startCommand(['restore', `${file}.half`], { ...env, DATABASE_URL: database });
  const writing = await open(`${file}.half`, 'w');
  await writing.writeFile(bytes.subarray(0, bytes.length - 1000));
  await restoring.kill();
  await writing.close();
  expect(await isEmpty(database)).toBe(true);
  expect((await restore(intact, { url: database, dataDir: env.TOCSIN_DATA_DIR })).header.logs).toBe('copied');
});
