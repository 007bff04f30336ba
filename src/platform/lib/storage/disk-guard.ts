import { statfs } from 'node:fs/promises';
import { appError } from '../errors.ts';

export type DiskGuard = {
  /** Returns whether more than the reserve is free, as of the last second. */
  hasSpace: () => Promise<boolean>;
  /** Throws `insufficient_storage` (507) if no more than the reserve is free. */
  requireSpace: () => Promise<void>;
  /** Returns why ingestion is stopped, for `/readyz`, or null if it is not. */
  reason: () => Promise<string | null>;
  /** Returns the free bytes of the fullest disk. Infinite if none can be examined. */
  freeBytes: () => Promise<number>;
};

type DiskGuardOptions = {
  /** Folders on the disks to watch. Those that do not exist are ignored. */
  folders: readonly string[];
  reserveBytes: number;
  /** Returns milliseconds of a clock that never goes back. */
  monotonic?: () => number;
};

const cacheMs = 1_000;
const retryAfterSeconds = '60';

/**
 * Watches the free space of the data directory, so that ingestion stops while the database still has room to write. It continues when
 * there is space again.
 */
export function createDiskGuard({
  folders,
  reserveBytes,
  monotonic = () => performance.now(),
}: DiskGuardOptions): DiskGuard {
  let cached: { free: Promise<number>; atMs: number } | undefined;
  const freeBytes = (): Promise<number> => {
    if (!cached || monotonic() - cached.atMs >= cacheMs) cached = { free: readFreeBytes(folders), atMs: monotonic() };
    return cached.free;
  };
  const hasSpace = async (): Promise<boolean> => (await freeBytes()) > reserveBytes;
  return {
    hasSpace,
    freeBytes,
    async requireSpace() {
      if (await hasSpace()) return;
      const detail = 'The disk of the service is full up to its reserve. Nothing was stored. Try again later.';
      throw appError('insufficient_storage', detail, { headers: { 'retry-after': retryAfterSeconds } });
    },
    async reason() {
      if (await hasSpace()) return null;
      return `${await freeBytes()} bytes are free, and TOCSIN_DISK_RESERVE_BYTES is ${reserveBytes}. Logs and feeds are not ingested until there is space.`;
    },
  };
}

async function readFreeBytes(folders: readonly string[]): Promise<number> {
  const free = await Promise.all(
    folders.map((folder) =>
      statfs(folder).then(
        ({ bavail, bsize }) => bavail * bsize,
        () => Number.POSITIVE_INFINITY,
      ),
    ),
  );
  return Math.min(...free);
}
