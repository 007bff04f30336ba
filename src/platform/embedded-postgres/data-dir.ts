import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, realpathSync, statSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTextFile, removeTree, writeDurably } from './durable-files.ts';
import { type ServerUser, canEnter } from './run-program.ts';
import { type FileLock, tryLock } from '../lib/storage/file-lock.ts';
import { isRunning } from './processes.ts';

const homesOfRoot = '/var/lib/tocsin';

/** Creates the data directory if it is missing and returns its real path, so that one directory has one set of locks. */
export function prepareDataDir(dataDir: string): { dataDir: string; lockDir: string } {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const real = realpathSync(dataDir);
  const lockDir = join(real, 'locks');
  mkdirSync(lockDir, { recursive: true, mode: 0o700 });
  return { dataDir: real, lockDir };
}

/**
 * Returns the folder of the existing database: the one recorded in the file `location`, else `pg` in the data directory, or undefined if
 * there is none. Throws if the recorded folder is missing or belongs to another data directory: a new database would hide the loss.
 */
export function findLocation(dataDir: string): string | undefined {
  const recorded = readTextFile(join(dataDir, 'location'));
  if (!recorded) return existsSync(join(dataDir, 'pg', 'PG_VERSION')) ? join(dataDir, 'pg') : undefined;
  if (!existsSync(join(recorded, 'PG_VERSION'))) {
    throw new Error(
      `${join(dataDir, 'location')} points to a database in ${recorded}, which does not exist. Restore it, or remove that file to start with a new database.`,
    );
  }
  claimHome(dirname(recorded), dataDir);
  return recorded;
}

/**
 * Records the data directory that owns a home outside it. Throws if another one does: a copied data directory points to the same home
 * as its original, and two owners of one database would stop each other's server.
 */
function claimHome(home: string, dataDir: string): void {
  const marker = join(home, 'data-dir');
  const claimant = readTextFile(marker);
  if (claimant === dataDir) return;
  if (claimant && readTextFile(join(claimant, 'location')) === join(home, 'pg')) {
    throw new Error(
      `The database in ${home} belongs to the data directory ${claimant}. Remove ${join(dataDir, 'location')} to start with a new database.`,
    );
  }
  writeDurably(marker, dataDir, 0o644);
}

/** initdb calls other programs of its folder through a shell, in double quotes, where these characters have a meaning. */
const shellCharacters = /["$`\\]/;

/**
 * Returns the folder for a new database: `pg` in the data directory, or in a new home under /var/lib if the server's user cannot enter it, or
 * if PostgreSQL's programs are copied beside the database and could not call each other there.
 */
export function chooseLocation(dataDir: string, user: ServerUser | undefined, copiesPrograms = false): string {
  const isUsable = !(copiesPrograms && shellCharacters.test(dataDir));
  if (!user || (isUsable && grantEntry(dataDir, user))) return join(dataDir, 'pg');
  const home = join(homesOfRoot, randomBytes(6).toString('hex'));
  mkdirSync(home, { recursive: true });
  for (const folder of [homesOfRoot, home]) chmodSync(folder, 0o755);
  return join(home, 'pg');
}

/** Records where the database is. Called last, so that `location` never points to an incomplete database. */
export function recordLocation(dataDir: string, location: string): void {
  if (location === join(dataDir, 'pg')) return;
  writeDurably(join(dirname(location), 'data-dir'), dataDir, 0o644);
  writeDurably(join(dataDir, 'location'), location, 0o644);
}

/** Removes the home of a database if it is outside the data directory. Nothing inside the data directory is touched. */
export function removeHome(location: string): void {
  if (dirname(dirname(location)) === homesOfRoot) removeTree(dirname(location));
}

/** Lets the server's user enter the data directory, but only if its group is root. A directory shared with others stays as it is. */
function grantEntry(dataDir: string, user: ServerUser): boolean {
  if (canEnter(dataDir, user)) return true;
  const { uid, gid, mode } = statSync(dataDir);
  if (uid !== 0 || gid !== 0 || !canEnter(dirname(dataDir), user)) return false;
  chownSync(dataDir, uid, user.gid);
  chmodSync(dataDir, (mode & 0o707) | 0o010);
  return canEnter(dataDir, user);
}

const attemptsMax = 80;
const stepMs = 25;

type Owner = { pid: number; startedAt: string };

/**
 * Makes this process the only one that serves or works on the data directory, until it releases the lock or ends.
 * Throws an error that names the directory and the current owner if there is one.
 */
export async function takeOwnership(dataDir: string, lockDir: string): Promise<FileLock> {
  const file = join(dataDir, 'owner.json');
  const lock = await waitForLock(join(lockDir, 'owner'), () => findLivingOwner(file) !== undefined);
  if (!lock) throw new Error(refusalMessage(dataDir, findLivingOwner(file)));
  writeDurably(file, JSON.stringify({ pid: process.pid, startedAt: new Date().toISOString() } satisfies Owner), 0o644);
  return {
    release: () => {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}

/** Retries while the lock is held without a living owner on file: the holder has not written the file yet, or is about to end. */
async function waitForLock(file: string, isOwned: () => boolean): Promise<FileLock | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const lock = tryLock(file, 'one');
    if (lock || isOwned()) return lock;
    await sleep(stepMs);
  }
  return undefined;
}

function refusalMessage(dataDir: string, owner: Owner | undefined): string {
  const who = owner ? `the process ${owner.pid}, started ${owner.startedAt}` : 'another process';
  return `The data directory ${dataDir} is in use by ${who}. Stop it first, or set TOCSIN_DATA_DIR to another directory.`;
}

function findLivingOwner(file: string): Owner | undefined {
  const owner = readOwner(file);
  return owner && isRunning(owner.pid) ? owner : undefined;
}

function readOwner(file: string): Owner | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<Owner> | null;
    if (typeof value?.pid !== 'number' || typeof value.startedAt !== 'string') return undefined;
    return { pid: value.pid, startedAt: value.startedAt };
  } catch {
    return undefined;
  }
}
