import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { tryLock, type FileLock } from '../../../../platform/lib/file-lock.ts';

const processesMax = 1000;

/** Claims a folder below `root` that no other process uses, preferably one with the copies of an earlier process. */
export function claimCacheFolder(root: string): { folder: string; lock: FileLock } {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  for (let slot = 0; slot < processesMax; slot += 1) {
    const lock = tryLock(join(root, `${slot}.lock`), 'one');
    if (!lock) continue;
    const folder = join(root, String(slot));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folder, lock };
  }
  throw new Error(`All ${processesMax} folders for copies of log files in ${root} are in use by other processes.`);
}

/** Returns the copies in a folder, least recently written first. Removes incomplete downloads. */
export function listCopies(folder: string): { path: string; bytes: number }[] {
  const copies: { path: string; bytes: number; modifiedMs: number }[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const full = join(entry.parentPath, entry.name);
    if (entry.name.endsWith(partialSuffix)) rmSync(full, { force: true });
    else {
      const { size, mtimeMs } = statSync(full);
      copies.push({ path: relative(folder, full), bytes: size, modifiedMs: mtimeMs });
    }
  }
  return copies.toSorted((a, b) => a.modifiedMs - b.modifiedMs);
}

/** Ends the names of files that are being downloaded. */
export const partialSuffix = '.partial';
