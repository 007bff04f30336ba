import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { readTextFile } from './durable-files.ts';
import { listProcesses, waitUntil } from './processes.ts';
import { spawnCredentials, findServerUser } from './run-program.ts';
import {
  killAllHolders,
  killHard,
  holdOrThrow,
  newDataDir,
  removeDataDirs,
  findPostmasters,
} from '../../../test/support/platform/postgres-holder.ts';
import { runStatements as query } from '../../../test/support/run-statements.ts';

const options = { exclusive: true, log: (): void => {} };

const dataDir = newDataDir();
const table = 'drop table if exists t; create table t (n int)';

afterEach(killAllHolders);
afterAll(removeDataDirs);

async function untilAnswer(url: string, statement: string): Promise<unknown[]> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await query(url, statement);
    } catch (error) {
      if (attempt === 1_000) throw error;
      await sleep(50);
    }
  }
}

test('restarts a killed server at the same address with every row, despite a busy query', async () => {
  const lines: string[] = [];
  const server = await startEmbeddedPostgres({ dataDir, exclusive: true, log: (line) => lines.push(line) });
  await query(server.url, table, 'insert into t values (1)');
  const busy = query(server.url, 'select count(*) from generate_series(1, 1000000000000) as busy').catch(
    (error: Error) => error,
  );
  const isBusy = (): boolean => listProcesses().some(({ command }) => /^postgres: tocsin-.* SELECT/.test(command));
  expect(await waitUntil(isBusy, 60_000)).toBe(true);
  await killHard(findPostmasters(dataDir)[0]!.pid);
  expect(await untilAnswer(server.url, 'select n from t')).toEqual([{ n: 1 }]);
  expect(await busy).toBeInstanceOf(Error);
  expect(await waitUntil(() => lines.at(-1)!.includes('restarted ('), 60_000)).toBe(true);
  expect(lines.at(-1)).toContain(`(pid ${findPostmasters(dataDir)[0]!.pid})`);
  await server.stop();
  expect(findPostmasters(dataDir)).toEqual([]);
});

test('stop succeeds if the server has already ended', async () => {
  const server = await startEmbeddedPostgres({ dataDir, ...options });
  process.kill(findPostmasters(dataDir)[0]!.pid, 'SIGKILL');
  await server.stop();
  expect(findPostmasters(dataDir)).toEqual([]);
});

test('adopts the server of a killed owner with its rows', async () => {
  const owner = await holdOrThrow(dataDir, true);
  await query(owner.url, table, 'insert into t values (1)');
  const [left] = findPostmasters(dataDir);
  await killHard(owner.pid);
  const next = await startEmbeddedPostgres({ dataDir, ...options });
  expect(next).toMatchObject({ origin: 'adopted', url: owner.url });
  expect(findPostmasters(dataDir)).toEqual([left]);
  expect(await query(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  // The server has no parent any more, but is still supervised and stopped.
  await killHard(left!.pid);
  expect(await untilAnswer(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  await next.stop();
  expect(findPostmasters(dataDir)).toEqual([]);
});

test('keeps every acknowledged row if owner and server are killed and another process reuses the pid', async () => {
  const owner = await holdOrThrow(dataDir, true);
  await query(owner.url, table);
  let acknowledged = 0;
  const writing = (async () => {
    for (; ; acknowledged++) await query(owner.url, `insert into t values (${acknowledged})`);
  })().catch(() => {});
  await waitUntil(() => acknowledged > 20, 60_000);
  await killHard(owner.pid);
  await killHard(findPostmasters(dataDir)[0]!.pid);
  await writing;
  const pidFile = join(owner.location, 'postmaster.pid');
  const stranger = spawn('sleep', ['60'], spawnCredentials(findServerUser()));
  const socketLock = join(owner.location, '.s.PGSQL.5432.lock');
  for (const file of [pidFile, socketLock])
    writeFileSync(file, readTextFile(file)!.replace(/^\d+/, String(stranger.pid)));
  const next = await startEmbeddedPostgres({ dataDir, ...options });
  expect(next.origin).toBe('started');
  const [row] = (await query(next.url, 'select count(*)::int as n from t')) as { n: number }[];
  expect(row!.n).toBeGreaterThanOrEqual(acknowledged);
  expect(stranger.kill()).toBe(true);
  await next.stop();
});

test('replaces a hanging server, or fails if other processes use it', async () => {
  const owner = await holdOrThrow(dataDir, true);
  await query(owner.url, table, 'insert into t values (1)');
  const [left] = findPostmasters(dataDir);
  process.kill(left!.pid, 'SIGSTOP');
  await expect(startEmbeddedPostgres({ dataDir, ...options, exclusive: false })).rejects.toThrow(/cannot be joined/);
  await killHard(owner.pid);
  const next = await startEmbeddedPostgres({ dataDir, ...options });
  expect(next.origin).toBe('started');
  expect(findPostmasters(dataDir)).not.toEqual([left]);
  expect(await query(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  await next.stop();
});

test('replaces a lost password', async () => {
  const owner = await holdOrThrow(dataDir, true);
  await query(owner.url, table, 'insert into t values (1)');
  rmSync(join(dataDir, 'pg.password'));
  await killHard(owner.pid);
  const next = await startEmbeddedPostgres({ dataDir, ...options });
  expect(next.url).not.toBe(owner.url);
  expect(await query(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  await next.stop();
});
