import { DatabaseSync } from 'node:sqlite';

/**
 * Node has no `flock`. SQLite takes POSIX record locks on the file it opens, which the kernel releases when the process ends in any
 * way. Nothing is written, so the file stays empty. (https://www.sqlite.org/lockingv3.html)
 * `one`: at most one holder, compatible with `shared`. `shared`: any number of holders. `all`: excludes every other holder.
 */
export type LockKind = 'one' | 'shared' | 'all';
export type FileLock = { release: () => void };

const statements: Record<LockKind, string> = {
  one: 'BEGIN IMMEDIATE',
  shared: 'BEGIN; SELECT count(*) FROM sqlite_schema',
  all: 'BEGIN EXCLUSIVE',
};
const sqliteBusy = 5;

/** Takes the lock. Returns undefined immediately if another process, or another lock of this process, conflicts with it. */
export function tryLock(file: string, kind: LockKind): FileLock | undefined {
  const db = openLockFile(file);
  try {
    db.exec(statements[kind]);
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw new Error(`The lock file ${file} cannot be locked: ${(error as Error).message}`, { cause: error });
  }
  return {
    release: () => {
      if (db.isOpen) db.close();
    },
  };
}

function openLockFile(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw new Error(`The lock file ${file} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
}
