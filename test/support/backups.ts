import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newEmptyDatabase } from './database.ts';
import { newDataDir, startApp, type TestApp } from './harness.ts';
import { root } from './program.ts';
import { runStatements } from './run-statements.ts';
import { fillOrganization } from './walk/fill-organization.ts';
import { loadConfig } from '../../src/config.ts';
import { createSegmentStore } from '../../src/detection/log-store/files/create-segment-store.ts';
import type { SegmentStore } from '../../src/detection/log-store/files/segment-store.ts';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';
import { openBackupLocation } from '../../src/app/backup/backup-location.ts';
import { createBackup, type BackupOptions } from '../../src/app/backup/create-backup.ts';
import { restoreBackup, type RestoreResult } from '../../src/app/backup/restore-backup.ts';

/** Starts a service with an organization that has rows in almost every table. */
export async function startFilledApp(): Promise<TestApp> {
  const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1,localhost' } });
  await fillOrganization(app.deps, await app.newOrg());
  // Otherwise what was counted so far would be written during the first test.
  await app.deps.usage.flush();
  return app;
}

/** Opens the log storage of a data folder. */
export const storeOf = (dataDir: string, logsUrl = 'file:'): SegmentStore =>
  createSegmentStore(loadConfig({ TOCSIN_DATA_DIR: dataDir, TOCSIN_LOGS_URL: logsUrl }), {
    log: createLogger('silent'),
  });
/** Backs up a service. */
export const backUpApp = ({ deps, url }: TestApp, target: string, more: Partial<BackupOptions> = {}) =>
  createBackup(openBackupLocation(target), {
    config: deps.config,
    url,
    segmentStore: deps.segmentStore,
    logs: 'copied',
    report: () => undefined,
    ...more,
  });
export type Restored = RestoreResult & { dataDir: string; url: string };
export type RestoreTarget = {
  url?: string;
  dataDir?: string;
  passphrase?: string;
  store?: SegmentStore;
  acceptMissingLogs?: boolean;
};
/** Restores a backup of a service into a new database and folder, or those of `more`. */
export async function restoreApp({ deps }: TestApp, from: string, more: RestoreTarget = {}): Promise<Restored> {
  const { url = await newEmptyDatabase(), dataDir = newDataDir(), store = storeOf(dataDir) } = more;
  const config = {
    dataDir,
    databaseUrl: undefined,
    secretKey: deps.config.secretKey,
    backupPassphrase: more.passphrase,
  };
  const options = { config, url, segmentStore: store, acceptMissingLogs: more.acceptMissingLogs ?? false };
  const result = await restoreBackup(openBackupLocation(from), { ...options, report: () => undefined });
  return { ...result, dataDir, url };
}
/** Returns the number of rows of every table and a hash of their content. */
export const hashesOf = async (databaseUrl: string): Promise<unknown> => {
  const tables = (await runStatements(
    databaseUrl,
    "select relname as name from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace and relname <> all('{migrations,log_store}') order by 1",
  )) as { name: string }[];
  const each = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*)::int as rows, md5(string_agg(t::text, ' ' order by t::text)) from ${name} t`,
  );
  return runStatements(databaseUrl, 'set timezone = utc', `${each.join(' union all ')} order by 1`);
};
/** Returns whether a database is without the tables of the service. */
export const isEmpty = async (databaseUrl: string): Promise<boolean> =>
  (await runStatements(databaseUrl, "select 1 from pg_class where relname = 'organizations'")).length === 0;

/** Starts a command of the program that the test kills without warning. */
export function startCommand(args: string[], env: Record<string, string>): { kill: () => Promise<void> } {
  const child = spawn(process.execPath, [join(root, 'bin/tocsin.mjs'), ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  return {
    kill: async () => {
      expect(child.exitCode).toBeNull();
      child.kill('SIGKILL');
      await ended;
    },
  };
}
