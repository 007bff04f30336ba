import { existsSync, createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { pack } from 'tar-stream';
import type { Config } from '../../config.ts';
import { keepReplacedFiles } from '../../detection/log-compaction/clean-segments.ts';
import {
  withLocalFiles,
  type SegmentStore,
  type StoredSegment,
} from '../../detection/log-store/files/segment-store.ts';
import { connectDirectly } from '../../platform/db/server-address.ts';
import type { Migration } from '../../platform/db/migrate.ts';
import { packageVersion } from '../../platform/lib/program-files.ts';
import { createSecretbox, keyFilePath } from '../../platform/lib/secretbox.ts';
import { type BackupLocation, encode } from './backup-location.ts';
import {
  checksumsEntry,
  createLogTally,
  createTally,
  headerEntry,
  keyEntry,
  tableEntry,
  type Checksums,
  type Header,
  logEntry,
  listTables,
  prepareCopy,
  readTable,
} from './manifest.ts';

export type BackupOptions = {
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKey' | 'backupPassphrase'>;
  url: string;
  segmentStore: SegmentStore;
  logs: Header['logs'];
  /** Reports what is copied next. */
  report: (text: string) => void;
};

const attemptsMax = 3;

/**
 * Writes a backup of the database as of one moment, with the log files that it lists. Begins again, up to twice, if an erasure removes such
 * a file meanwhile, because the backup would contain the erased value elsewhere.
 */
export async function createBackup(location: BackupLocation, options: BackupOptions): Promise<Checksums> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeBackup(location, options);
    } catch (error) {
      if (attempt === attemptsMax || !(error instanceof ErasedMeanwhileError)) throw error;
      options.report('A value was erased from the logs meanwhile. The backup begins again.');
    }
  }
}

async function writeBackup(location: BackupLocation, options: BackupOptions): Promise<Checksums> {
  const { config, url } = options;
  const client = await connectDirectly(url, 'tocsin-backup');
  let checksums: Checksums | undefined;
  try {
    await keepReplacedFiles(client);
    await prepareCopy(client);
    await writeArchive(
      (bytes) => location.write(encode(bytes, config.backupPassphrase)),
      async (archive) => {
        checksums = await fillArchive(client, archive, options);
      },
    );
    return checksums!;
  } finally {
    await client.end();
  }
}

async function fillArchive(client: pg.Client, archive: ArchiveWriter, options: BackupOptions): Promise<Checksums> {
  const { config, segmentStore, logs, report } = options;
  const addText = (name: string, text: string) => archive.add(name, Buffer.byteLength(text), [Buffer.from(text)]);
  await client.query('begin isolation level repeatable read read only; set local role tocsin_system');
  const { rows: migrations } = await client.query<Migration>('select name, sha256 from migrations order by name');
  const header: Header = {
    format: 1,
    version: packageVersion,
    createdAt: new Date().toISOString(),
    migrations,
    tables: await listTables(client),
    logs,
    keyCheck: hasKey(config) ? createSecretbox(config).seal('tocsin', keyCheckContext).toString('base64') : null,
  };
  await addText(headerEntry, JSON.stringify(header, null, 2));
  if (config.backupPassphrase !== undefined && usesKeyFile(config) && hasKey(config))
    await addText(keyEntry, await readFile(keyFilePath(config.dataDir), 'utf8'));
  const tables: Checksums['tables'] = {};
  for (const table of header.tables) {
    report(`table ${table.name}`);
    const tally = createTally();
    let piece = 0;
    for await (const rowsText of readTable(client, table)) {
      tally.add(rowsText);
      await archive.add(tableEntry(table.name, piece++), rowsText.length, [rowsText]);
    }
    tables[table.name] = tally.end();
  }
  if (logs === 'copied') await declareLogList(client);
  // Ends the snapshot, so that copying the log files does not keep the server from cleaning up.
  await client.query('commit');
  const copied = logs === 'copied' ? await copyLogs(client, archive, { segmentStore, report }) : createLogTally().end();
  const checksums = { tables, logs: copied };
  await addText(checksumsEntry, JSON.stringify(checksums, null, 2));
  return checksums;
}

/** Returns whether the key of an installation is a generated one in its data directory. */
export const usesKeyFile = ({ secretKey, databaseUrl }: BackupOptions['config']): boolean =>
  secretKey === undefined && databaseUrl === undefined;

export const hasKey = (config: BackupOptions['config']): boolean =>
  config.secretKey !== undefined || (usesKeyFile(config) && existsSync(keyFilePath(config.dataDir)));

export const keyCheckContext = 'backup';

type ArchiveWriter = {
  /** Adds an entry of `size` bytes. Waits while the destination is slower. */
  add: (name: string, size: number, chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) => Promise<void>;
};

/** Sends a tar archive to `write` while `fill` adds its entries. The archive ends only if `fill` succeeds. */
async function writeArchive(
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const tar = pack();
  const written = write(tar);
  // Ends the wait of an entry whose bytes can no longer be written.
  const broken = written.then(() => new Promise<never>(() => undefined));
  const filled = fill({
    add: (name, size, chunks) =>
      Promise.race([
        broken,
        pipeline(
          chunks,
          tar.entry({ name, size, mode: 0o600 }, () => undefined),
        ),
      ]),
  });
  try {
    await filled;
    tar.finalize();
  } catch (error) {
    tar.destroy(error as Error);
    await written.catch(() => undefined);
    throw error;
  }
  await written;
}

type ListedFile = StoredSegment & { orgId: string };

/** A log file that the backup lists was erased before it was copied. */
class ErasedMeanwhileError extends Error {}

/** Keeps the list of the log files of the current snapshot on the server until the connection ends. */
async function declareLogList(client: pg.Client): Promise<void> {
  await client.query(`
    declare log_list cursor with hold for
    select organization_id as "orgId", path, bytes::float8 as bytes, sha256 from segments where replaced_at is null
    order by organization_id, id`);
}

type CopyLogsOptions = { segmentStore: SegmentStore; report: (text: string) => void };

/** Adds the files of `declareLogList` to a backup. */
async function copyLogs(
  client: pg.Client,
  archive: ArchiveWriter,
  { segmentStore, report }: CopyLogsOptions,
): Promise<Checksums['logs']> {
  const tally = createLogTally();
  for (;;) {
    const { rows } = await client.query<ListedFile>('fetch 500 from log_list');
    if (rows.length === 0) return tally.end();
    for (const file of rows) {
      tally.start(logEntry(file.orgId, file.path));
      try {
        await withLocalFiles(segmentStore, file.orgId, [file], () => copyFile(archive, segmentStore, file, tally.add));
      } catch (error) {
        throw (await isListed(client, file)) ? explainFile(file, error) : new ErasedMeanwhileError();
      }
    }
    report(`${tally.count()} log files`);
  }
}

async function copyFile(
  archive: ArchiveWriter,
  { folderOf }: SegmentStore,
  { orgId, path, bytes }: ListedFile,
  observe: (chunk: Uint8Array) => void,
): Promise<void> {
  const local = join(folderOf(orgId), path);
  const { size } = await stat(local);
  if (size !== bytes) throw new Error(`it has ${size} bytes instead of ${bytes}`);
  await archive.add(logEntry(orgId, path), bytes, observed(createReadStream(local), observe));
}

async function* observed(chunks: AsyncIterable<Buffer>, observe: (chunk: Uint8Array) => void): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    observe(chunk);
    yield chunk;
  }
}

async function isListed(client: pg.Client, { orgId, path }: ListedFile): Promise<boolean> {
  await client.query('begin; set local role tocsin_system');
  const { rowCount } = await client.query(
    'select 1 from segments where organization_id = $1 and path = $2 and replaced_at is null',
    [orgId, path],
  );
  await client.query('commit');
  return rowCount === 1;
}

const explainFile = ({ orgId, path }: ListedFile, error: unknown): Error =>
  new Error(
    `The log file ${orgId}/${path} cannot be copied: ${(error as Error).message}. To back up everything else, use --logs list.`,
    { cause: error },
  );
