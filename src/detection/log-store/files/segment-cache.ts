import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, mkdirSync, renameSync, rmSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import { tryLock, type FileLock } from '../../../platform/lib/storage/file-lock.ts';
import { partialPath, partialSuffix, partitionFolders } from './segment-file.ts';
import { LogStorageError } from './segment-store.ts';

/** A copy of a file. `isVerified` is false for one that an earlier process left. */
type Copy = { bytes: number; users: number; isVerified: boolean; ready: Promise<void> };

export type CachedFile = { path: string; bytes: number; sha256: string | null };

/** Copies of files in a folder, least recently used ones removed above a size. Paths are relative to the folder. */
export type SegmentCache = {
  /** Makes a copy available until the returned function is called. Simultaneous calls for one file share a download. */
  use: (file: CachedFile) => Promise<() => void>;
  /** Adds a file that is in the folder already. */
  add: (file: CachedFile) => void;
  /** Deletes a copy, unless it is in use. */
  remove: (path: string) => void;
  paths: () => string[];
};

type CacheOptions = {
  folder: string;
  bytesMax: number;
  /** Writes a file of the store to a local path. */
  download: (path: string, target: string) => Promise<void>;
  metrics?: CacheMetrics | undefined;
};

type CacheState = CacheOptions & {
  /** In the order of use, the least recent first. */
  copies: Map<string, Copy>;
  bytes: number;
};

const done = Promise.resolve();

/** Creates the cache of a folder with the copies that are in it. */
export function createSegmentCache(options: CacheOptions): SegmentCache {
  const cache: CacheState = { ...options, copies: new Map(), bytes: 0 };
  for (const { path, bytes } of listCopies(cache.folder))
    insert(cache, path, { bytes, users: 0, isVerified: false, ready: done });
  return {
    use: (file) => useCopy(cache, file),
    add: ({ path, bytes }) => {
      insert(cache, path, { bytes, users: 0, isVerified: true, ready: done });
      trim(cache);
    },
    remove: (path) => remove(cache, path),
    paths: () => [...cache.copies.keys()],
  };
}

function insert(cache: CacheState, path: string, copy: Copy): Copy {
  cache.copies.set(path, copy);
  addBytes(cache, copy.bytes);
  return copy;
}

function forget(cache: CacheState, path: string, copy: Copy): void {
  if (cache.copies.get(path) !== copy) return;
  cache.copies.delete(path);
  addBytes(cache, -copy.bytes);
}

function addBytes(cache: CacheState, bytes: number): void {
  cache.bytes += bytes;
  cache.metrics?.setSize(cache.bytes);
}

/** Not asynchronous: otherwise it could delete a copy that was downloaded again meanwhile. */
function remove(cache: CacheState, path: string): void {
  const copy = cache.copies.get(path);
  if (copy && copy.users > 0) return;
  if (copy) forget(cache, path, copy);
  rmSync(join(cache.folder, path), { force: true });
  removeEmptyFolders(join(cache.folder, path));
}

/** Removes unused copies, the least recently used first, until the cache is small enough. */
function trim(cache: CacheState): void {
  for (const [path, copy] of cache.copies) {
    if (cache.bytes <= cache.bytesMax) return;
    if (copy.users === 0) remove(cache, path);
  }
}

async function useCopy(cache: CacheState, file: CachedFile): Promise<() => void> {
  const copy = openCopy(cache, file);
  copy.users += 1;
  trim(cache);
  const release = (): void => {
    copy.users -= 1;
    trim(cache);
  };
  try {
    await copy.ready;
  } catch (error) {
    forget(cache, file.path, copy);
    release();
    throw error;
  }
  return once(release);
}

/** Returns the copy of a file, which may not be downloaded or verified yet. */
function openCopy(cache: CacheState, file: CachedFile): Copy {
  const { copies, metrics, folder } = cache;
  const known = copies.get(file.path);
  metrics?.recordRead(known ? 'hit' : 'miss', file.bytes);
  if (!known)
    return insert(cache, file.path, { bytes: file.bytes, users: 0, isVerified: true, ready: fetchFile(cache, file) });
  copies.delete(file.path);
  copies.set(file.path, known);
  if (!known.isVerified) {
    known.isVerified = true;
    known.ready = verify(join(folder, file.path), file).catch(() => fetchFile(cache, file));
  }
  return known;
}

async function fetchFile({ folder, download }: CacheOptions, file: CachedFile): Promise<void> {
  const target = join(folder, file.path);
  const partial = join(folder, partialPath(randomUUID()));
  try {
    await download(file.path, partial);
    await verify(partial, file);
    // Not asynchronous: otherwise the removal of another copy could remove the folder in between.
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** Throws unless a local file has the size and the hash of a stored one. */
async function verify(path: string, file: CachedFile): Promise<void> {
  const hash = await hashFile(path);
  if (hash.bytes !== file.bytes || (file.sha256 !== null && hash.sha256 !== file.sha256))
    throw new LogStorageError(
      `The file ${file.path} of the log storage is damaged: it has ${hash.bytes} bytes and SHA-256 ${hash.sha256} instead of ${file.bytes} and ${file.sha256}.`,
    );
}

/** Returns the size and the SHA-256 of a file, in hexadecimal. */
export async function hashFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = createReadStream(path, { highWaterMark: 1024 * 1024 });
  await pipeline(stream, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  });
  return { bytes, sha256: hash.digest('hex') };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}

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
function listCopies(folder: string): { path: string; bytes: number }[] {
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
function removeEmptyFolders(path: string): void {
  for (const folder of partitionFolders(path)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}

/** Counts what the local copies of object storage save. */
export type CacheMetrics = {
  recordRead: (outcome: 'hit' | 'miss', bytes: number) => void;
  setSize: (bytes: number) => void;
};

/** Registers the figures of the local copies. Call it once per registry. */
export function createCacheMetrics(registry: Registry): CacheMetrics {
  const registers = [registry];
  const labelNames = ['outcome'] as const;
  const reads = new Counter({
    name: 'tocsin_log_cache_reads_total',
    help: 'Log files in object storage that queries read, by whether a local copy existed (hit) or not (miss).',
    labelNames,
    registers,
  });
  const bytes = new Counter({
    name: 'tocsin_log_cache_read_bytes_total',
    help: 'Bytes of the log files in object storage that queries read, by whether a local copy existed (hit) or not (miss).',
    labelNames,
    registers,
  });
  const size = new Gauge({
    name: 'tocsin_log_cache_bytes',
    help: 'Bytes of the local copies of log files in object storage.',
    registers,
  });
  return {
    recordRead: (outcome, count) => {
      reads.inc({ outcome });
      bytes.inc({ outcome }, count);
    },
    setSize: (count) => size.set(count),
  };
}
