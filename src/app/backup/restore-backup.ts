import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Config } from '../../config.ts';
import type { SegmentStore } from '../../detection/log-store/files/segment-store.ts';
import {
  applyMigration,
  listAppliedMigrations,
  migrate,
  readMigrations,
  withSchemaLock,
  findMismatch,
  planMigrations,
  type Migration,
  forceRowSecurity,
  liftRowSecurity,
} from '../../platform/db/migrate.ts';
import { createSecretbox, keyFilePath } from '../../platform/lib/secretbox.ts';
import { type BackupLocation, decode } from './backup-location.ts';
import { hasKey, keyCheckContext, usesKeyFile } from './create-backup.ts';
import { type Checksums, type Header, copyFromSql, prepareCopy } from './manifest.ts';
import { readArchive, type BackupReader } from './read-archive.ts';
import { explainOtherStore } from '../../detection/log-store/log-store.ts';

type RestoreOptions = {
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKey' | 'backupPassphrase'>;
  url: string;
  segmentStore: SegmentStore;
  /** Restores a backup that only lists the log files although some of them are gone. Queries then continue without them. */
  acceptMissingLogs: boolean;
  /** Reports what is restored next. */
  report: (text: string) => void;
};

/** `isKeyMissing`: the stored credentials cannot be decrypted with the key of this installation. */
export type RestoreResult = { header: Header; checksums: Checksums; isKeyMissing: boolean };

/**
 * Restores a backup into an empty installation and migrates it to this version. Everything in the database happens in one transaction:
 * a restore that fails or is killed leaves the database empty and can be repeated.
 */
export async function restoreBackup(location: BackupLocation, options: RestoreOptions): Promise<RestoreResult> {
  const { config, url, segmentStore } = options;
  const { header, checksums } = await withSchemaLock(url, async (client) => {
    await checkEmpty(client);
    await prepareCopy(client);
    const applied = await listAppliedMigrations(client);
    planMigrations(readMigrations(), applied);
    await client.query('begin');
    const restoring = createRestorer(client, applied, options);
    const read = await readArchive(decode(location.read(), config.backupPassphrase), restoring.reader);
    const restored = restoring.header();
    if (restored.logs === 'copied') await claimEmptyStore(client, segmentStore);
    else await acceptListedLogs(client, segmentStore, options);
    // Manifests are not part of a backup. The service writes them.
    if (restored.tables.some(({ name }) => name === 'dataset_manifests'))
      await client.query('update dataset_manifests set written_version = 0');
    for (const { name } of restored.tables) await client.query(`${triggerSql(name, 'enable')}; analyze ${quote(name)}`);
    await forceRowSecurity(client);
    await client.query('commit');
    return { header: restored, checksums: read };
  });
  await migrate(url);
  return { header, checksums, isKeyMissing: !canOpenSecrets(config, header) };
}

const quote = pg.escapeIdentifier;

/** Turns the triggers of a table on or off. Without them, COPY restores rows as they were. */
const triggerSql = (name: string, action: 'enable' | 'disable'): string =>
  `alter table ${quote(name)} ${action} trigger user`;

async function checkEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query("select to_regclass('organizations') is not null as exists");
  if (!rows[0].exists) return;
  await client.query('begin; set local role tocsin_system');
  const { rowCount } = await client.query('select 1 from organizations limit 1');
  await client.query('commit');
  if (rowCount)
    throw new Error(
      'The database already contains an installation. Restore into an empty one: another DATABASE_URL, or without it another TOCSIN_DATA_DIR.',
    );
}

/** Returns a reader that writes the parts of a backup to the database, in the current transaction, and to the log storage. */
function createRestorer(
  client: pg.Client,
  applied: Migration[],
  { config, segmentStore, report }: RestoreOptions,
): { reader: BackupReader; header: () => Header } {
  let restored: Header | undefined;
  let files = 0;
  const reader: BackupReader = {
    async header(header) {
      restored = header;
      if (header.logs === 'copied') await checkStoreIsEmpty(segmentStore);
      await createSchema(client, applied, header);
    },
    async key(text) {
      if (!usesKeyFile(config)) return;
      await mkdir(config.dataDir, { recursive: true });
      await writeFile(keyFilePath(config.dataDir), text, { mode: 0o600, flush: true });
    },
    async table(table, rows) {
      report(`table ${table.name}`);
      await pipeline(rows, client.query(copyFrom(copyFromSql(table))));
    },
    async log(orgId, path, bytes) {
      const file = join(segmentStore.folderOf(orgId), path);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await pipeline(bytes, createWriteStream(file, { mode: 0o600, flush: true }));
      await segmentStore.put(orgId, path);
      files += 1;
      if (files % 500 === 0) report(`${files} log files`);
    },
  };
  return { reader, header: () => restored! };
}

/** Creates the tables as the version of the backup had them, without rows. */
async function createSchema(client: pg.Client, applied: Migration[], header: Header): Promise<void> {
  rejectOtherVersion(header);
  const newer = applied[header.migrations.length];
  if (newer !== undefined)
    throw new Error(
      `The database has the migration ${newer.name}, which the backup does not have. Use an empty database.`,
    );
  for (const { name } of header.migrations.slice(applied.length)) await applyMigration(client, name);
  for (const { name, months } of header.tables)
    for (const month of months)
      await client.query('select tocsin_partition_months($1, to_date($2, $3), 0)', [name, month, 'YYYYMM']);
  await client.query(`truncate ${header.tables.map(({ name }) => quote(name)).join(', ')}`);
  for (const { name } of header.tables) await client.query(triggerSql(name, 'disable'));
  await liftRowSecurity(client);
}

/** Throws if the backup is not of this version or an earlier one. */
function rejectOtherVersion({ version, migrations }: Header): void {
  const mismatch = findMismatch(readMigrations(), migrations);
  if (mismatch?.kind === 'newer')
    throw new Error(
      `The backup was made by the newer version ${version} (${mismatch.name}). Use that version or a newer one.`,
    );
  if (mismatch !== undefined)
    throw new Error(
      `The backup is of a database of a development version, whose migration ${mismatch.name} is not that of this version. Restore it with that version, or start without it, because nothing was released before 0.1.0.`,
    );
}

async function checkStoreIsEmpty(store: SegmentStore): Promise<void> {
  if ((await store.readId()) === undefined) return;
  throw new Error(
    `${store.location} is the log storage of an installation. Restore into an empty one: another TOCSIN_DATA_DIR or TOCSIN_LOGS_URL.`,
  );
}

/** Gives the log storage its own ID, so that no process mistakes it for the storage of the installation that was backed up. */
async function claimEmptyStore(client: pg.Client, store: SegmentStore): Promise<void> {
  const id = randomUUID();
  await client.query('update log_store set directory_id = $1', [id]);
  // Last before the commit: if that fails, the folder has an ID that no database knows, and must be emptied.
  await store.writeId(id);
}

function canOpenSecrets(config: RestoreOptions['config'], { keyCheck }: Header): boolean {
  if (keyCheck === null) return true;
  if (!hasKey(config)) return false;
  try {
    createSecretbox(config).open(Buffer.from(keyCheck, 'base64'), keyCheckContext);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks, in the transaction of a restore, that the log storage is the one that the backup lists and still has its files. With
 * `acceptMissingLogs`, queries do without files that are gone.
 */
async function acceptListedLogs(
  client: pg.Client,
  store: SegmentStore,
  { acceptMissingLogs }: { acceptMissingLogs: boolean },
): Promise<void> {
  const { rows } = await client.query<{ id: string | null }>('select directory_id as id from log_store');
  const [expected, found] = [rows[0]!.id, await store.readId()];
  if (expected !== null && expected !== found) throw new Error(explainOtherStore(store, { expected, found }));
  await client.query('create temporary table stored_logs (organization_id uuid, path text) on commit drop');
  for await (const { orgId, files } of store.list())
    await client.query('insert into stored_logs select $1, unnest($2::text[])', [orgId, files.map(({ path }) => path)]);
  await client.query('create index on stored_logs (organization_id, path)');
  const { rows: missing } = await client.query<{ path: string }>(`
    update segments s set replaced_at = now()
    where replaced_at is null and not exists (
      select 1 from stored_logs f where f.organization_id = s.organization_id and f.path = s.path)
    returning organization_id || '/' || path as path`);
  if (missing.length > 0 && !acceptMissingLogs)
    throw new Error(
      `${store.location} no longer has ${missing.length} log files that the backup lists, such as ${missing[0]!.path}. Restore them from a version or copy of the bucket, or continue without them with --accept-missing-logs.`,
    );
}
