import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { removeTree } from './durable-files.ts';
import { canEnter, findServerUser } from './run-program.ts';
import {
  killAllHolders,
  holdOrThrow,
  newDataDir,
  registerHome,
  removeDataDirs,
  findPostmasters,
} from '../../../test/support/platform/postgres-holder.ts';
import { runStatements as query } from '../../../test/support/run-statements.ts';

const nobody = findServerUser();
const isOpen = nobody !== undefined && canEnter(import.meta.dirname, nobody);
if (!nobody) console.warn('Not running as root. Tests of PostgreSQL as nobody are skipped.');
else if (!isOpen) console.warn('The user nobody cannot read this checkout. Tests that need it are skipped.');
const log = (): void => {};

afterEach(killAllHolders);
afterAll(removeDataDirs);

/** Creates a data directory whose parent the user nobody cannot enter. */
function newClosedDataDir(): string {
  const parent = newDataDir();
  const dataDir = join(parent, 'data');
  mkdirSync(dataDir);
  return dataDir;
}

test.skipIf(!isOpen)('runs the server as nobody if started as root, with its files in the data directory', async () => {
  const dataDir = newDataDir();
  const server = await startEmbeddedPostgres({ dataDir, exclusive: true, log });
  expect(server.location).toBe(join(dataDir, 'pg'));
  expect(statSync(server.location).uid).toBe(nobody?.uid);
  expect(statSync(`/proc/${findPostmasters(dataDir)[0]!.pid}`).uid).toBe(nobody?.uid);
  // The group of nobody can enter the directory, but only root can read the password.
  expect((statSync(dataDir).mode & 0o777).toString(8)).toBe('710');
  expect((statSync(join(dataDir, 'pg.password')).mode & 0o777).toString(8)).toBe('600');
  await server.stop();
});

test.skipIf(!nobody)(
  'creates the database in a separate home if the data directory is inaccessible, and finds it again',
  async () => {
    const dataDir = newClosedDataDir();
    const first = await startEmbeddedPostgres({ dataDir, exclusive: true, log });
    registerHome(first.location);
    expect(first.location).toMatch(/^\/var\/lib\/tocsin\/[0-9a-f]{12}\/pg$/);
    expect(readFileSync(join(dataDir, 'location'), 'utf8')).toBe(first.location);
    await query(first.url, 'create table t (n int)', 'insert into t values (1)');
    await first.stop();

    const second = await startEmbeddedPostgres({ dataDir, exclusive: true, log });
    expect(second.location).toBe(first.location);
    expect(await query(second.url, 'select n from t')).toEqual([{ n: 1 }]);
    await second.stop();

    const copy = newDataDir();
    writeFileSync(join(copy, 'location'), first.location);
    await expect(startEmbeddedPostgres({ dataDir: copy, exclusive: true, log })).rejects.toThrow(
      /belongs to the data directory/,
    );

    rmSync(join(dataDir, 'location'));
    const third = await startEmbeddedPostgres({ dataDir, exclusive: true, log });
    registerHome(third.location);
    expect(third.location).not.toBe(first.location);
    await third.stop();

    removeTree(third.location);
    await expect(startEmbeddedPostgres({ dataDir, exclusive: true, log })).rejects.toThrow(
      /which does not exist. Restore it/,
    );
  },
);

test.skipIf(!nobody)('removes the home if the database cannot be created', async () => {
  const dataDir = newClosedDataDir();
  mkdirSync(join(dataDir, 'pg.password'));
  const lines: string[] = [];
  const start = startEmbeddedPostgres({ dataDir, exclusive: true, log: (line) => lines.push(line) });
  await expect(start).rejects.toThrow(/EISDIR/);
  const [, home] = /(\/var\/lib\/tocsin\/[0-9a-f]+)\/pg$/m.exec(lines.join('\n'))!;
  expect(existsSync(home!)).toBe(false);
});

test.skipIf(!isOpen)('runs the server as the plain user who owns the directory, also if started as root', async () => {
  const dataDir = newDataDir(nobody);
  const holder = await holdOrThrow(dataDir, false, nobody);
  expect(statSync(`/proc/${findPostmasters(dataDir)[0]!.pid}`).uid).toBe(nobody?.uid);
  await query(holder.url, 'create table t (n int)', 'insert into t values (1)');
  await holder.leave();
  const root = await startEmbeddedPostgres({ dataDir, exclusive: true, log });
  expect(statSync(`/proc/${findPostmasters(dataDir)[0]!.pid}`).uid).toBe(nobody?.uid);
  expect(await query(root.url, 'select n from t')).toEqual([{ n: 1 }]);
  await root.stop();
});

test.skipIf(!nobody)('does not change the permissions of a shared directory', async () => {
  const dataDir = newDataDir();
  chmodSync(dataDir, 0o750);
  chownSync(dataDir, 0, 1);
  const server = await startEmbeddedPostgres({ dataDir, exclusive: true, log });
  registerHome(server.location);
  expect(server.location).toMatch(/^\/var\/lib\/tocsin\//);
  expect((statSync(dataDir).mode & 0o777).toString(8)).toBe('750');
  await server.stop();
});
