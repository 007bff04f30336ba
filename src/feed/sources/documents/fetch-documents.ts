import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, opendirSync, readFileSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createFetchSession,
  type DigestInput,
  type FetchBounds,
  type FetchSessionResult,
  type SourceDocument,
} from '../../formats/fetch-session.ts';
import { parseFeedDate } from '../../formats/parse-date.ts';
import type { SourceFormat } from '../../formats/source-format.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

export type FetchedDocuments =
  | { kind: 'read'; parts: SourceDocument[]; etag: string | undefined; lastModified: string | undefined }
  | { kind: 'collected'; parts: SourceDocument[]; collection: FetchSessionResult }
  | { kind: 'not-modified' };

type AddressedSource = { url: string; etag: string | null; last_modified: string | null; file_allowed: boolean };
type FetchOptions = {
  format: SourceFormat;
  settings: { fetchAllow: string[]; fileSources: string[] };
  /** The request headers of the source's credential. */
  headers: Record<string, string> | undefined;
  /** The state from the last `collect` of this source. */
  collected: unknown;
  now: Date;
  digest: (documents: DigestInput[]) => Promise<unknown>;
  signal?: AbortSignal | undefined;
  /** Lower bounds than those of a pull. */
  bounds?: Partial<FetchBounds>;
};

const filesMax = 10_000;
const depthMax = 8;
const bytesMax = 128 * 1024 * 1024;

/**
 * Fetches the documents of a source: the document at its address, the matching files of a directory, or what its format collects.
 * Throws an `ExternalError` if they cannot be had.
 */
export async function fetchDocuments(source: AddressedSource, options: FetchOptions): Promise<FetchedDocuments> {
  const { format, settings, headers, signal, bounds } = options;
  if (source.url.startsWith('file:'))
    return readFiles(source, settings.fileSources, format.files ?? /\.json(?:\.gz)?$/i);
  const { collected: cursor, now, digest } = options;
  const allow = settings.fetchAllow;
  const session = createFetchSession({ url: source.url, cursor, now, allow, digest, headers, signal, bounds });
  const collection = await format.fetch?.(session);
  if (collection) return { kind: 'collected', parts: collection.parts, collection };
  const fetched = await session.fetch(source.url, {
    etag: source.etag ?? undefined,
    lastModified: source.last_modified ?? undefined,
    accept: format.accept,
    bytesMax: bounds?.bytesMax ?? bytesMax,
  });
  if (!fetched) return { kind: 'not-modified' };
  const name = basename(new URL(source.url).pathname) || 'document';
  return {
    kind: 'read',
    parts: [
      {
        name,
        bytes: fetched.bytes,
        contentType: fetched.contentType,
        modified: parseFeedDate(fetched.lastModified),
      },
    ],
    etag: fetched.etag,
    lastModified: fetched.lastModified,
  };
}

async function readFiles(
  source: AddressedSource,
  openDirectories: string[],
  fileNames: RegExp,
): Promise<FetchedDocuments> {
  const path = await realpath(fileURLToPath(source.url)).catch(() => undefined);
  if (path === undefined) throw new ExternalError('the file does not exist');
  if (!source.file_allowed && !(await isBelowAny(path, openDirectories)))
    throw new ExternalError('the file is outside the directories of TOCSIN_FILE_SOURCES');
  const parts: SourceDocument[] = [];
  let bytes = 0;
  for (const file of (await stat(path)).isDirectory() ? listFiles(path, fileNames) : [path]) {
    const read = asReadable(() => readFile(file, bytesMax - bytes));
    if (!read) throw new ExternalError(`the files together are larger than ${bytesMax} bytes`);
    bytes += read.bytes.length;
    parts.push({ name: documentName(path, file), ...read });
  }
  return { kind: 'read', parts, etag: undefined, lastModified: undefined };
}

/**
 * Reads a file, or returns undefined if it is larger than `bytesMax`. Asynchronous calls take several times the processor time for small files,
 * and sources are read in threads of their own.
 */
function readFile(path: string, bytesMax: number): { bytes: Buffer; modified: string } | undefined {
  const file = openSync(path, 'r');
  try {
    const { size, mtime } = fstatSync(file);
    return size > bytesMax ? undefined : { bytes: readFileSync(file), modified: mtime.toISOString() };
  } finally {
    closeSync(file);
  }
}

/** Runs `work` on a file. One that is missing or must not be read is the fault of whoever configured the source. */
function asReadable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ELOOP'].includes(code)) throw error;
    throw new ExternalError(`the file cannot be read (${code})`, { cause: error });
  }
}

/** Returns whether a real path is inside one of the directories. Symbolic links in the names of the directories are followed. */
export async function isBelowAny(path: string, directories: string[]): Promise<boolean> {
  for (const directory of directories) {
    const parent = await realpath(directory).catch(() => undefined);
    const relativePath = parent === undefined ? '..' : relative(parent, path);
    if (relativePath === '' || (relativePath !== '..' && !relativePath.startsWith(`..${sep}`))) return true;
  }
  return false;
}

const documentName = (root: string, file: string): string =>
  file === root ? basename(file) : relative(root, file).replaceAll(sep, '/');

/** Returns the matching files of a directory. Symbolic links are not followed, because they could lead outside of it or form a cycle. */
function listFiles(root: string, fileNames: RegExp): string[] {
  const found: string[] = [];
  const open = [{ directory: root, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const directory = asReadable(() => opendirSync(next.directory, { bufferSize: 1_000 }));
    try {
      for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
        const path = join(next.directory, entry.name);
        if (entry.isDirectory() && next.depth < depthMax) open.push({ directory: path, depth: next.depth + 1 });
        if (entry.isFile() && fileNames.test(entry.name)) found.push(path);
        if (found.length > filesMax) throw new ExternalError(`the directory contains more than ${filesMax} files`);
      }
    } finally {
      directory.closeSync();
    }
  }
  if (found.length === 0) throw new ExternalError('the directory contains no file of this kind');
  return found.toSorted();
}

/** Hashes documents, to detect that a source has not changed. */
export function hashDocuments(documents: SourceDocument[]): string {
  const hash = createHash('sha256');
  for (const { name, bytes } of documents)
    hash.update(`${documents.length > 1 ? name : ''}\n${bytes.length}\n`).update(bytes);
  return hash.digest('hex');
}
