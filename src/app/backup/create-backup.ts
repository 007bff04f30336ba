import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import type { Config } from '../../config.ts';
import { keepReplacedFiles } from '../../detection/logs/storage/backup-lock.ts';
import type { SegmentStore } from '../../detection/logs/storage/store/segment-store.ts';
import { connectDirectly } from '../../platform/db/connect-directly.ts';
import { packageVersion } from '../../platform/lib/program-files.ts';
import { createSecretbox, keyFilePath } from '../../platform/lib/secrets/secretbox.ts';
import { writeArchive, type ArchiveWriter } from './archive-writer.ts';
import type { BackupLocation } from './backup-location.ts';
import { encode } from './encryption.ts';
import { copyLogs, declareLogList, ErasedMeanwhileError } from './copy-logs.ts';
import {
  checksumsEntry,
  createLogTally,
  createTally,
  headerEntry,
  keyEntry,
  tableEntry,
  type Checksums,
  type Header,
} from './manifest.ts';
import { listTables, prepareCopy, readTable } from './tables.ts';

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
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name');
  const header: Header = {
    format: 1,
    version: packageVersion,
    createdAt: new Date().toISOString(),
    migrations: rows.map(({ name }) => name),
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
