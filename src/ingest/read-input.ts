import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchBytes } from '../lib/fetch.ts';
import type { Part } from './record.ts';

export type Input =
  | { kind: 'read'; parts: Part[]; etag: string | undefined; lastModified: string | undefined }
  | { kind: 'not-modified' };

type InputSource = { url: string; etag: string | null; last_modified: string | null; file_allowed: boolean };
type InputSettings = { fetchAllow: string[]; fileSources: string[] };

const filesMax = 1_000;
const bytesMax = 128 * 1024 * 1024;

/** Reads what a source's address holds: one document, or every JSON file of a directory. Throws an Error with a message that may be shown. */
export async function readInput(source: InputSource, settings: InputSettings, signal?: AbortSignal): Promise<Input> {
  if (source.url.startsWith('file:')) return readFiles(source, settings.fileSources);
  const fetched = await fetchBytes({
    url: source.url,
    allow: settings.fetchAllow,
    etag: source.etag ?? undefined,
    lastModified: source.last_modified ?? undefined,
    signal,
  });
  if (fetched.kind === 'not-modified') return fetched;
  const name = basename(new URL(source.url).pathname) || 'document';
  return {
    kind: 'read',
    parts: [{ name, bytes: fetched.bytes }],
    etag: fetched.etag,
    lastModified: fetched.lastModified,
  };
}

async function readFiles(source: InputSource, open: string[]): Promise<Input> {
  const path = await realpath(fileURLToPath(source.url)).catch(() => undefined);
  if (path === undefined) throw new Error('the file does not exist');
  if (!source.file_allowed && !(await isBelowAny(path, open)))
    throw new Error('the file lies outside the directories of TOCSIN_FILE_SOURCES');
  const names = (await stat(path)).isDirectory() ? await jsonFiles(path) : [path];
  let size = 0;
  for (const name of names) size += (await stat(name)).size;
  if (size > bytesMax) throw new Error(`the files are larger than ${bytesMax} bytes together`);
  const parts: Part[] = [];
  for (const name of names) parts.push({ name: basename(name), bytes: await readFile(name) });
  return { kind: 'read', parts, etag: undefined, lastModified: undefined };
}

/** Whether a real path lies in one of the directories; links in their own names are followed. */
export async function isBelowAny(path: string, directories: string[]): Promise<boolean> {
  for (const directory of directories) {
    const parent = await realpath(directory).catch(() => undefined);
    const way = parent === undefined ? '..' : relative(parent, path);
    if (way === '' || (way !== '..' && !way.startsWith(`..${sep}`))) return true;
  }
  return false;
}

async function jsonFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && /\.json(?:\.gz)?$/i.test(entry.name))
    .map(({ name }) => name);
  if (names.length === 0) throw new Error('the directory holds no .json file');
  if (names.length > filesMax) throw new Error(`the directory holds more than ${filesMax} files`);
  return names.toSorted().map((name) => join(directory, name));
}
