import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startEmbedded } from './embedded-postgres.ts';
import { removeTree } from './data-dir/durable-files.ts';
import { canEnter, findServerUser } from './os/server-user.ts';
import {
  endAll,
  mustHold,
  newDataDir,
  noteHome,
  query,
  removeDataDirs,
  serversOf,
} from '../../../test/support/platform/postgres-holder.ts';

const nobody = findServerUser();
const isOpen = nobody !== undefined && canEnter(import.meta.dirname, nobody);
if (!nobody) console.warn('Not root: the tests of running PostgreSQL as nobody are skipped.');
else if (!isOpen) console.warn('This checkout is closed to nobody: the tests that need an open one are skipped.');
const log = (): void => {};

afterEach(endAll);
afterAll(removeDataDirs);

/** A data directory whose parent lets nobody pass. */
function newClosedDataDir(): string {
  const parent = newDataDir();
  const dataDir = join(parent, 'data');
  mkdirSync(dataDir);
  return dataDir;
}

test.skipIf(!isOpen)('as root the server runs as nobody, with its files in the data directory', async () => {
  const dataDir = newDataDir();
  const server = await startEmbedded({ dataDir, exclusive: true, log });
  expect(server.location).toBe(join(dataDir, 'pg'));
  expect(statSync(server.location).uid).toBe(nobody?.uid);
  expect(statSync(`/proc/${serversOf(dataDir)[0]!.pid}`).uid).toBe(nobody?.uid);
  // The group of nobody passes through, and none but root reads the password.
  expect((statSync(dataDir).mode & 0o777).toString(8)).toBe('710');
  expect((statSync(join(dataDir, 'pg.password')).mode & 0o777).toString(8)).toBe('600');
  await server.stop();
});

test.skipIf(!nobody)('under a closed folder the database goes to a home of its own, which is found again', async () => {
  const dataDir = newClosedDataDir();
  const first = await startEmbedded({ dataDir, exclusive: true, log });
  noteHome(first.location);
  expect(first.location).toMatch(/^\/var\/lib\/tocsin\/[0-9a-f]{12}\/pg$/);
  expect(readFileSync(join(dataDir, 'location'), 'utf8')).toBe(first.location);
  await query(first.url, 'create table t (n int)', 'insert into t values (1)');
  await first.stop();

  const second = await startEmbedded({ dataDir, exclusive: true, log });
  expect(second.location).toBe(first.location);
  expect(await query(second.url, 'select n from t')).toEqual([{ n: 1 }]);
  await second.stop();

  const copy = newDataDir();
  writeFileSync(join(copy, 'location'), first.location);
  await expect(startEmbedded({ dataDir: copy, exclusive: true, log })).rejects.toThrow(/belongs to the data directory/);

  rmSync(join(dataDir, 'location'));
  const third = await startEmbedded({ dataDir, exclusive: true, log });
  noteHome(third.location);
  expect(third.location).not.toBe(first.location);
  await third.stop();

  removeTree(third.location);
  await expect(startEmbedded({ dataDir, exclusive: true, log })).rejects.toThrow(/where none is: put it back/);
});

test.skipIf(!nobody)('a database that cannot be made leaves no home behind', async () => {
  const dataDir = newClosedDataDir();
  mkdirSync(join(dataDir, 'pg.password'));
  const lines: string[] = [];
  const start = startEmbedded({ dataDir, exclusive: true, log: (line) => lines.push(line) });
  await expect(start).rejects.toThrow(/EISDIR/);
  const [, home] = /(\/var\/lib\/tocsin\/[0-9a-f]+)\/pg$/m.exec(lines.join('\n'))!;
  expect(existsSync(home!)).toBe(false);
});

test.skipIf(!isOpen)('a plain user runs the server as himself, and root on his directory as him', async () => {
  const dataDir = newDataDir(nobody);
  const holder = await mustHold(dataDir, false, nobody);
  expect(statSync(`/proc/${serversOf(dataDir)[0]!.pid}`).uid).toBe(nobody?.uid);
  await query(holder.url, 'create table t (n int)', 'insert into t values (1)');
  await holder.leave();
  const root = await startEmbedded({ dataDir, exclusive: true, log });
  expect(statSync(`/proc/${serversOf(dataDir)[0]!.pid}`).uid).toBe(nobody?.uid);
  expect(await query(root.url, 'select n from t')).toEqual([{ n: 1 }]);
  await root.stop();
});

test.skipIf(!nobody)('a directory that others share is not opened further', async () => {
  const dataDir = newDataDir();
  chmodSync(dataDir, 0o750);
  chownSync(dataDir, 0, 1);
  const server = await startEmbedded({ dataDir, exclusive: true, log });
  noteHome(server.location);
  expect(server.location).toMatch(/^\/var\/lib\/tocsin\//);
  expect((statSync(dataDir).mode & 0o777).toString(8)).toBe('750');
  await server.stop();
});
