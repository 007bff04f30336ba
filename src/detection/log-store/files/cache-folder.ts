import { mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { tryLock, type FileLock } from '../../../platform/lib/storage/file-lock.ts';
import { partialSuffix, partitionFolders } from './segment-path.ts';

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

/** Returns the copies in a folder, least recently written first. Removes incomplete files and the empty folders of hours and days. */
export function listCopies(folder: string): { path: string; bytes: number }[] {
  const copies: { path: string; bytes: number; modifiedMs: number }[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    // A path in the folder of an hour stands for any of its files.
    if (entry.isDirectory()) removeEmptyFolders(join(full, 'file'));
    if (!entry.isFile()) continue;
    if (entry.name.endsWith(partialSuffix)) rmSync(full, { force: true });
    else {
      const { size, mtimeMs } = statSync(full);
      copies.push({ path: relative(folder, full), bytes: size, modifiedMs: mtimeMs });
    }
  }
  return copies.toSorted((a, b) => a.modifiedMs - b.modifiedMs);
}

/** Removes the folders of the hour and the day of a removed copy, unless they contain another one. */
export function removeEmptyFolders(path: string): void {
  for (const folder of partitionFolders(path)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}
