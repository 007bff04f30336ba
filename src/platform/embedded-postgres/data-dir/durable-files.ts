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
import type { ServerUser } from '../os/server-user.ts';

/** Writes a small file whole or not at all, on disk when it returns. */
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

/** Renames and syncs the folder, so that the new name survives a power cut. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  const fd = openSync(dirname(to), 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The trimmed text of a small file, undefined where there is none. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Gives a whole tree to the server's user. */
export function giveTree(root: string, user: ServerUser): void {
  chownSync(root, user.uid, user.gid);
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(root, entry), user.uid, user.gid);
  }
}

/** Removes a tree into which the orphan of a killed start may still be writing. */
export function removeTree(root: string): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
