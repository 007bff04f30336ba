import {
  chownSync,
  closeSync,
  fsyncSync,
  lchownSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServerUser } from './run-program.ts';

/** Writes a small file atomically and syncs it to disk. */
export function writeDurably(file: string, text: string, mode: number): void {
  const temporary = `${file}.${process.pid}`;
  const fd = openSync(temporary, 'w', mode);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameDurably(temporary, file);
}

/** Renames a file and syncs its folder, so that the new name survives a power failure. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  const fd = openSync(dirname(to), 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Returns the trimmed text of a small file, or undefined if it does not exist. */
export function readTextFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Changes the owner of a whole tree to the server's user. */
export function chownTree(root: string, user: ServerUser): void {
  chownSync(root, user.uid, user.gid);
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(root, entry), user.uid, user.gid);
  }
}

/** Removes a tree, with retries: an orphaned process of a killed start may still be writing to it. */
export function removeTree(root: string): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
