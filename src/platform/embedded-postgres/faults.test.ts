import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startEmbedded } from './embedded-postgres.ts';
import { readText } from './data-dir/durable-files.ts';
import { listProcesses, waitUntil } from './os/processes.ts';
import { credentials, findServerUser } from './os/server-user.ts';
import {
  endAll,
  killHard,
  mustHold,
  newDataDir,
  query,
  removeDataDirs,
  serversOf,
} from '../../../test/support/platform/postgres-holder.ts';

const options = { exclusive: true, log: (): void => {} };

const dataDir = newDataDir();
const table = 'drop table if exists t; create table t (n int)';

afterEach(endAll);
afterAll(removeDataDirs);

async function untilAnswer(url: string, statement: string): Promise<unknown[]> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await query(url, statement);
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(50);
    }
  }
}

test('a server killed under us runs again at the same address with every row, though a query was busy', async () => {
  const lines: string[] = [];
  const server = await startEmbedded({ dataDir, exclusive: true, log: (line) => lines.push(line) });
  await query(server.url, table, 'insert into t values (1)');
  const busy = query(server.url, 'select count(*) from generate_series(1, 1000000000000) as busy').catch(
    (error: Error) => error,
  );
  const isBusy = (): boolean => listProcesses().some(({ command }) => /^postgres: tocsin-.* SELECT/.test(command));
  expect(await waitUntil(isBusy, 5_000)).toBe(true);
  await killHard(serversOf(dataDir)[0]!.pid);
  expect(await untilAnswer(server.url, 'select n from t')).toEqual([{ n: 1 }]);
  expect(await busy).toBeInstanceOf(Error);
  expect(await waitUntil(() => lines.at(-1)!.includes('runs again'), 5_000)).toBe(true);
  expect(lines.at(-1)).toContain(`(pid ${serversOf(dataDir)[0]!.pid})`);
  await server.stop();
  expect(serversOf(dataDir)).toEqual([]);
});

test('stop is no error where the server is already gone', async () => {
  const server = await startEmbedded({ dataDir, ...options });
  process.kill(serversOf(dataDir)[0]!.pid, 'SIGKILL');
  await server.stop();
  expect(serversOf(dataDir)).toEqual([]);
});

test('a server left behind by a killed owner is adopted with its rows', async () => {
  const owner = await mustHold(dataDir, true);
  await query(owner.url, table, 'insert into t values (1)');
  const [left] = serversOf(dataDir);
  await killHard(owner.pid);
  const next = await startEmbedded({ dataDir, ...options });
  expect(next).toMatchObject({ how: 'adopted', url: owner.url });
  expect(serversOf(dataDir)).toEqual([left]);
  expect(await query(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  // Nobody is its parent any more, and still it is watched and stopped.
  await killHard(left!.pid);
  expect(await untilAnswer(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  await next.stop();
  expect(serversOf(dataDir)).toEqual([]);
});

test('after both were killed, and the pid went to another process, every acknowledged row is there', async () => {
  const owner = await mustHold(dataDir, true);
  await query(owner.url, table);
  let acknowledged = 0;
  const writing = (async () => {
    for (; ; acknowledged++) await query(owner.url, `insert into t values (${acknowledged})`);
  })().catch(() => {});
  await waitUntil(() => acknowledged > 20, 5_000);
  await killHard(owner.pid);
  await killHard(serversOf(dataDir)[0]!.pid);
  await writing;
  const pidFile = join(owner.location, 'postmaster.pid');
  const stranger = spawn('sleep', ['60'], credentials(findServerUser()));
  const socketLock = join(owner.location, '.s.PGSQL.5432.lock');
  for (const file of [pidFile, socketLock]) writeFileSync(file, readText(file)!.replace(/^\d+/, String(stranger.pid)));
  const next = await startEmbedded({ dataDir, ...options });
  expect(next.how).toBe('started');
  const [row] = (await query(next.url, 'select count(*)::int as n from t')) as { n: number }[];
  expect(row!.n).toBeGreaterThanOrEqual(acknowledged);
  expect(stranger.kill()).toBe(true);
  await next.stop();
});

test('a server left behind that hangs is ended and started anew; where others use it the call fails instead', async () => {
  const owner = await mustHold(dataDir, true);
  await query(owner.url, table, 'insert into t values (1)');
  const [left] = serversOf(dataDir);
  process.kill(left!.pid, 'SIGSTOP');
  await expect(startEmbedded({ dataDir, ...options, exclusive: false })).rejects.toThrow(/cannot be joined/);
  await killHard(owner.pid);
  const next = await startEmbedded({ dataDir, ...options });
  expect(next.how).toBe('started');
  expect(serversOf(dataDir)).not.toEqual([left]);
  expect(await query(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  await next.stop();
});

test('a lost password is replaced', async () => {
  const owner = await mustHold(dataDir, true);
  await query(owner.url, table, 'insert into t values (1)');
  rmSync(join(dataDir, 'pg.password'));
  await killHard(owner.pid);
  const next = await startEmbedded({ dataDir, ...options });
  expect(next.url).not.toBe(owner.url);
  expect(await query(next.url, 'select n from t')).toEqual([{ n: 1 }]);
  await next.stop();
});
