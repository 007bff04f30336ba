import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readText, removeTree, writeDurably } from './durable-files.ts';
import { type ServerUser, canEnter } from '../os/server-user.ts';

const homesOfRoot = '/var/lib/tocsin';

/** Makes the data directory where it is missing and returns its real path, so that one directory has one set of locks. */
export function prepareDataDir(dataDir: string): { dataDir: string; lockDir: string } {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const real = realpathSync(dataDir);
  const lockDir = join(real, 'locks');
  mkdirSync(lockDir, { recursive: true, mode: 0o700 });
  return { dataDir: real, lockDir };
}

/**
 * The folder of the existing database: what `location` names, else `pg` in the data directory; undefined where a new one is due.
 * Throws where `location` names a folder that is gone or belongs to another data directory: a new database would hide the loss.
 */
export function findLocation(dataDir: string): string | undefined {
  const recorded = readText(join(dataDir, 'location'));
  if (!recorded) return existsSync(join(dataDir, 'pg', 'PG_VERSION')) ? join(dataDir, 'pg') : undefined;
  if (!existsSync(join(recorded, 'PG_VERSION'))) {
    throw new Error(
      `${join(dataDir, 'location')} says that the database is in ${recorded}, where none is: put it back, or remove that file to begin with a new database.`,
    );
  }
  claimHome(dirname(recorded), dataDir);
  return recorded;
}

/** A copied data directory names the same home as its original: two owners of one database would stop each other's server. */
function claimHome(home: string, dataDir: string): void {
  const marker = join(home, 'data-dir');
  const claimant = readText(marker);
  if (claimant === dataDir) return;
  if (claimant && readText(join(claimant, 'location')) === join(home, 'pg')) {
    throw new Error(
      `The database in ${home} belongs to the data directory ${claimant}: remove ${join(dataDir, 'location')} to begin with a new database.`,
    );
  }
  writeDurably(marker, dataDir, 0o644);
}

/** Where a new database goes: `pg` in the data directory, or a new home under /var/lib where the server's user cannot come to it. */
export function chooseLocation(dataDir: string, user: ServerUser | undefined): string {
  if (!user || admit(dataDir, user)) return join(dataDir, 'pg');
  const home = join(homesOfRoot, randomBytes(6).toString('hex'));
  mkdirSync(home, { recursive: true });
  for (const folder of [homesOfRoot, home]) chmodSync(folder, 0o755);
  return join(home, 'pg');
}

/** Remembers where the database is. Written last, so that `location` never names a database that is not whole. */
export function recordLocation(dataDir: string, location: string): void {
  if (location === join(dataDir, 'pg')) return;
  writeDurably(join(dirname(location), 'data-dir'), dataDir, 0o644);
  writeDurably(join(dataDir, 'location'), location, 0o644);
}

/** Removes what lies outside the data directory of a database that is not wanted any more; inside it nothing is touched. */
export function removeHome(location: string): void {
  if (dirname(dirname(location)) === homesOfRoot) removeTree(dirname(location));
}

/** Lets the server's user pass through a directory that only root's own group shares; no other one is opened to anybody. */
function admit(dataDir: string, user: ServerUser): boolean {
  if (canEnter(dataDir, user)) return true;
  const { uid, gid, mode } = statSync(dataDir);
  if (uid !== 0 || gid !== 0 || !canEnter(dirname(dataDir), user)) return false;
  chownSync(dataDir, uid, user.gid);
  chmodSync(dataDir, (mode & 0o707) | 0o010);
  return canEnter(dataDir, user);
}
