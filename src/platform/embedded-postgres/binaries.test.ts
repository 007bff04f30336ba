import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findBinaries, findPackage } from './binaries.ts';
import { canEnter, spawnCredentials, findServerUser } from './run-program.ts';
import { newDataDir, removeDataDirs } from '../../../test/support/platform/postgres-holder.ts';

const user = findServerUser();
const isOpen = !user || canEnter(import.meta.dirname, user);
if (!isOpen) console.warn('The user nobody cannot read this checkout. Tests that need it are skipped.');
const packaged = findPackage().native;

afterAll(removeDataDirs);

/** Copies the package as npm unpacks it: without the symlinks. */
function newPackage(): string {
  const native = join(newDataDir(), 'native');
  cpSync(packaged, native, { recursive: true, verbatimSymlinks: true });
  for (const link of linksOf(native)) rmSync(link, { force: true });
  return native;
}

function linksOf(native: string): string[] {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
  return links.map(({ target }) => join(native, '..', target));
}

function versionOf(postgres: string): string {
  return execFileSync(postgres, ['--version'], { ...spawnCredentials(user), cwd: '/', encoding: 'utf8' });
}

test.skipIf(!isOpen)('creates missing symlinks in the package', () => {
  const native = newPackage();
  chmodSync(join(native, '..'), 0o755);
  const binaries = findBinaries('/nowhere', user, { native, version: '18.4.0' });
  expect(binaries).toMatchObject({ postgres: join(native, 'bin/postgres'), major: '18' });
  expect(linksOf(native).filter((link) => !lstatSync(link).isSymbolicLink())).toEqual([]);
  expect(versionOf(binaries.postgres)).toMatch(/^postgres \(PostgreSQL\) 18/);
});

test.skipIf(!user || !isOpen)('copies unreachable programs beside the data and removes older copies', () => {
  const native = newPackage();
  const home = newDataDir();
  chmodSync(home, 0o755);
  mkdirSync(join(home, 'pg-bin-17.0.0'));
  const mask = process.umask(0o077);
  const binaries = findBinaries(home, user, { native, version: '18.4.0' });
  process.umask(mask);
  expect(binaries.postgres).toBe(join(home, 'pg-bin-18.4.0/bin/postgres'));
  expect(versionOf(binaries.initdb.replace('initdb', 'postgres'))).toMatch(/18/);
  expect(readdirSync(home)).toEqual(['pg-bin-18.4.0']);
  expect(findBinaries(home, user, { native, version: '18.4.0' })).toEqual(binaries);
});

test.skipIf(!isOpen)('explains what to do if the programs do not run', () => {
  const native = newPackage();
  rmSync(join(native, 'lib'), { recursive: true });
  mkdirSync(join(native, 'lib/pkgconfig'), { recursive: true });
  const home = newDataDir();
  expect(() => findBinaries(home, user, { native, version: '18.4.0' })).toThrow(
    /does not run on this system .*Set DATABASE_URL/,
  );
  expect(existsSync(join(home, 'pg-bin-18.4.0'))).toBe(true);
});
