import { openBackupLocation } from '../../app/backup/backup-location.ts';
import { createBackup, hasKey } from '../../app/backup/create-backup.ts';
import type { Checksums } from '../../app/backup/manifest.ts';
import { restoreBackup } from '../../app/backup/restore-backup.ts';
import { verifyBackup } from '../../app/backup/read-archive.ts';
import { explainFailure, openServer } from '../../app/open-database.ts';
import { loadConfig, type Config } from '../../config.ts';
import { createSegmentStore } from '../../detection/log-store/files/create-segment-store.ts';
import type { SegmentStore } from '../../detection/log-store/files/segment-store.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { createTextProgress, printError, printResult } from '../support/output.ts';
import { UsageError } from '../support/failures.ts';

type BackupCommandOptions = { logs?: string | undefined; verify?: boolean | undefined; json?: boolean | undefined };

export async function backupCommand(target: string, { logs, verify, json }: BackupCommandOptions): Promise<number> {
  if (logs !== undefined && logs !== 'copy' && logs !== 'list') throw new UsageError('--logs must be copy or list.');
  const config = loadConfig();
  const location = openBackupLocation(target);
  await location.check();
  const isCopied = logs === undefined ? config.logs.bucket === null : logs === 'copy';
  const progress = createTextProgress(process.stderr);
  const checksums = await withInstallation(config, { exclusive: false }, (installation) =>
    createBackup(location, { ...installation, logs: isCopied ? 'copied' : 'listed', report: progress.report }),
  );
  if (verify) {
    progress.report('reading the backup');
    await verifyBackup(location, config.backupPassphrase);
  }
  progress.end();
  const { tables, rows, files } = summarize(checksums);
  const notes = [
    `Backup ${target}: ${rows} rows of ${tables} tables, ${isCopied ? `${files} log files` : `the list of the log files, which stay in ${config.logs.bucket ? 'the bucket' : 'their folder'}`}.`,
    describeKey(config),
  ];
  return printResult(json, { target, ...checksums }, notes);
}

function describeKey(config: Config): string {
  const { secretKey, databaseUrl, backupPassphrase } = config;
  if (secretKey !== undefined)
    return 'It does not contain TOCSIN_SECRET_KEY, which decrypts stored credentials. Keep it elsewhere.';
  if (databaseUrl !== undefined) return 'No TOCSIN_SECRET_KEY is set, so there are no stored credentials.';
  if (!hasKey(config)) return 'There are no stored credentials yet, and no key that decrypts them.';
  if (backupPassphrase !== undefined) return 'It contains the generated key that decrypts stored credentials.';
  return 'It is not encrypted, so it does not contain secret.key, which decrypts stored credentials. Keep that file elsewhere, or set TOCSIN_BACKUP_PASSPHRASE.';
}

type RestoreCommandOptions = {
  verify?: boolean | undefined;
  acceptMissingLogs?: boolean | undefined;
  json?: boolean | undefined;
};

export async function restoreCommand(
  source: string,
  { verify, acceptMissingLogs = false, json }: RestoreCommandOptions,
): Promise<number> {
  const config = loadConfig();
  const location = openBackupLocation(source);
  if (verify) {
    const checksums = await verifyBackup(location, config.backupPassphrase);
    const { tables, rows, files } = summarize(checksums);
    const text = `${source} is complete: ${rows} rows of ${tables} tables, ${files} log files. Nothing was restored.`;
    return printResult(json, { source, ...checksums }, text);
  }
  const progress = createTextProgress(process.stderr);
  const { header, checksums, isKeyMissing } = await withInstallation(config, { exclusive: true }, (installation) =>
    restoreBackup(location, { ...installation, acceptMissingLogs, report: progress.report }),
  );
  progress.end();
  const { tables, rows, files } = summarize(checksums);
  if (isKeyMissing)
    printError(
      'Stored credentials cannot be decrypted with the key of this installation. Set TOCSIN_SECRET_KEY to the key of the installation that was backed up before you start.',
    );
  const text = `Restored ${source} of ${header.createdAt}: ${rows} rows of ${tables} tables, ${files} log files.`;
  return printResult(json, { source, createdAt: header.createdAt, isKeyMissing, ...checksums }, text);
}

function summarize({ tables, logs }: Checksums): { tables: number; rows: number; files: number } {
  const tallies = Object.values(tables);
  return { tables: tallies.length, rows: tallies.reduce((sum, { lines }) => sum + lines, 0), files: logs.files };
}

/** Runs `work` with the database, which is not migrated, and the log storage. */
async function withInstallation<T>(
  config: Config,
  { exclusive }: { exclusive: boolean },
  work: (installation: { config: Config; url: string; segmentStore: SegmentStore }) => Promise<T>,
): Promise<T> {
  const server = await openServer(config, { exclusive, log: () => undefined });
  const segmentStore = createSegmentStore(config, { log: createLogger('silent') });
  try {
    return await work({ config, url: server.url, segmentStore });
  } catch (error) {
    throw explainFailure(config, server.url, error);
  } finally {
    segmentStore.close();
    await server.stop();
  }
}
