import type { OrgId } from '../../../platform/lib/org-id.ts';
import { unavailableError } from '../../../platform/lib/errors.ts';

/** A published segment file. `path` is relative to the organization's log folder. `sha256` is in hexadecimal, or null if reads do not verify it. */
export type StoredSegment = { path: string; bytes: number; sha256: string | null };

/** Files of one organization in the store, listed or not. */
export type StoredFiles = { orgId: OrgId; files: { path: string; modifiedAt: Date }[] };

/**
 * Where segment files are. A new file is written to the organization's local folder, stored with `put`, and published in a transaction
 * afterwards. Errors are `LogStorageError`s, except those of local files.
 */
export type SegmentStore = {
  /** The address of the store, for people. */
  location: string;
  /** Returns the local folder of an organization's segment files. It contains no other organization's data. */
  folderOf: (orgId: string) => string;
  /** Makes a file of the local folder durable for every process. Returns its SHA-256 in hexadecimal, or null if reads do not verify it. */
  put: (orgId: string, path: string) => Promise<string | null>;
  /** Stores a small file that queries do not read. A reader sees either the earlier content or all of this one. */
  putText: (orgId: string, path: string, text: string) => Promise<void>;
  /** Makes files available in the local folder and keeps them there until the returned function is called. */
  lease: (orgId: string, segments: readonly StoredSegment[]) => Promise<() => void>;
  /** Deletes a file from the store and the local folder. Does nothing if it does not exist. */
  remove: (orgId: string, path: string) => Promise<void>;
  list: () => AsyncIterable<StoredFiles>;
  /** Lists the files of the local folder that are only copies. */
  listCopies: () => StoredFiles[];
  /** Deletes a local copy, unless it is in use. */
  removeCopy: (orgId: string, path: string) => void;
  /** Returns the ID that was written to the store, or undefined. */
  readId: () => Promise<string | undefined>;
  writeId: (id: string) => Promise<void>;
  /** Throws an explanation if a file cannot be written, read and deleted. */
  probe: () => Promise<void>;
  close: () => void;
};

/** The store of segment files failed. The message says which one and why. */
export class LogStorageError extends Error {}

/** Runs `work` while the segments' files are in the local folder. */
export async function withLocalFiles<T>(
  store: Pick<SegmentStore, 'lease'>,
  orgId: string,
  segments: readonly StoredSegment[],
  work: () => Promise<T>,
): Promise<T> {
  const release = await store.lease(orgId, segments);
  try {
    return await work();
  } finally {
    release();
  }
}

/** How long after it was stored a file may still be published. */
const publishMsMax = 30 * 60_000;

/**
 * How old an unlisted file is at least when it is removed. A file older than this can no longer be published, even if the clocks of this
 * machine and the store differ by some minutes.
 */
export const orphanGraceMs = 2 * publishMsMax;

/**
 * Starts the time limit of a file that is about to be stored. Call the returned function as the last step of the transaction that lists the
 * file: it throws if the file may already have been removed as an orphan.
 */
export function startPublishing(nowMs: () => number = () => performance.now()): () => void {
  const startedMs = nowMs();
  return () => {
    if (nowMs() - startedMs > publishMsMax) throw unavailableError('Storing took too long. Try again.', 5);
  };
}
