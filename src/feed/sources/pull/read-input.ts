import { opendir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchBytes } from '../../../platform/lib/outbound-http/fetch.ts';
import { collectContext, type Collection, type Digestible } from '../../formats/fetch-session.ts';
import { feedDate } from '../../formats/rss/feed-dates.ts';
import type { Part, SourceFormat } from '../../model/source-record.ts';

export type Input =
  | { kind: 'read'; parts: Part[]; etag: string | undefined; lastModified: string | undefined }
  | { kind: 'collected'; parts: Part[]; collection: Collection }
  | { kind: 'not-modified' };

type InputSource = { url: string; etag: string | null; last_modified: string | null; file_allowed: boolean };
type InputSettings = { fetchAllow: string[]; fileSources: string[] };
type Given = {
  format: SourceFormat;
  settings: InputSettings;
  /** The source's credential. */
  headers: Record<string, string> | undefined;
  /** What an earlier `collect` of this source left. */
  collected: unknown;
  now: Date;
  digest: (documents: Digestible[]) => Promise<unknown>;
  signal?: AbortSignal | undefined;
};

const filesMax = 10_000;
const depthMax = 8;
const bytesMax = 128 * 1024 * 1024;

/**
 * Reads what a source's address holds: one document, every fitting file of a directory, or what its format collects.
 * Throws an Error with a message that may be shown.
 */
export async function readInput(source: InputSource, given: Given): Promise<Input> {
  const { format, settings, headers, signal } = given;
  if (source.url.startsWith('file:'))
    return readFiles(source, settings.fileSources, format.files ?? /\.json(?:\.gz)?$/i);
  const { collected: cursor, now, digest } = given;
  const collecting = format.collect?.(
    collectContext({ url: source.url, cursor, now, allow: settings.fetchAllow, digest, headers, signal }),
  );
  if (collecting) {
    const collection = await collecting;
    return { kind: 'collected', parts: collection.parts, collection };
  }
  const fetched = await fetchBytes({
    url: source.url,
    allow: settings.fetchAllow,
    etag: source.etag ?? undefined,
    lastModified: source.last_modified ?? undefined,
    headers,
    signal,
  });
  if (fetched.kind === 'not-modified') return fetched;
  const name = basename(new URL(source.url).pathname) || 'document';
  return {
    kind: 'read',
    parts: [{ name, bytes: fetched.bytes, modified: feedDate(fetched.lastModified) }],
    etag: fetched.etag,
    lastModified: fetched.lastModified,
  };
}

async function readFiles(source: InputSource, open: string[], files: RegExp): Promise<Input> {
  const path = await realpath(fileURLToPath(source.url)).catch(() => undefined);
  if (path === undefined) throw new Error('the file does not exist');
  if (!source.file_allowed && !(await isBelowAny(path, open)))
    throw new Error('the file lies outside the directories of TOCSIN_FILE_SOURCES');
  const names = (await stat(path)).isDirectory() ? await listFiles(path, files) : [path];
  const found: { name: string; size: number; mtime: Date }[] = [];
  for (const name of names) {
    const { size, mtime } = await stat(name);
    found.push({ name, size, mtime });
  }
  if (found.reduce((sum, { size }) => sum + size, 0) > bytesMax)
    throw new Error(`the files are larger than ${bytesMax} bytes together`);
  const parts: Part[] = [];
  for (const { name, mtime } of found)
    parts.push({ name: partName(path, name), bytes: await readFile(name), modified: mtime.toISOString() });
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

const partName = (root: string, file: string): string =>
  file === root ? basename(file) : relative(root, file).replaceAll(sep, '/');

/** Links are not followed: they could lead out of the directory, or in a circle. */
async function listFiles(root: string, files: RegExp): Promise<string[]> {
  const found: string[] = [];
  const open = [{ directory: root, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    for await (const entry of await opendir(next.directory)) {
      const path = join(next.directory, entry.name);
      if (entry.isDirectory() && next.depth < depthMax) open.push({ directory: path, depth: next.depth + 1 });
      if (entry.isFile() && files.test(entry.name)) found.push(path);
      if (found.length > filesMax) throw new Error(`the directory holds more than ${filesMax} files`);
    }
  }
  if (found.length === 0) throw new Error('the directory holds no file of this kind');
  return found.toSorted();
}
