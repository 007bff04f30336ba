import type pg from 'pg';
import { acrossOrgs, inOrg, queryRow, type Db, type Tx } from '../../platform/db/db.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { writeDueManifests, type WriteManifestsDeps } from '../log-store/write-manifests.ts';
import { orphanGraceMs, type SegmentStore, type StoredFiles } from '../log-store/files/segment-store.ts';
import {
  deleteReplacedSegment,
  findListedPaths,
  listReplacedAcrossOrgs,
  listReplacedOfDataset,
} from './compact.store.ts';

type CleanSegmentsDeps = { db: Db; segmentStore: SegmentStore };

/** Longer than any query takes. */
const queryGraceMs = 15 * 60_000;

/** Removes the files of replaced segments, each after a grace period, and lists the published ones, until the signal aborts. */
export function cleanSegmentsLoop(
  deps: CleanSegmentsDeps & WriteManifestsDeps & { log: Logger },
  signal: AbortSignal,
): Promise<void> {
  return runLoop({ name: 'clean', idleMs: 10 * 60_000, signal, log: deps.log }, async () => {
    await writeDueManifests(deps);
    await removeReplacedFiles(deps);
    return false;
  });
}

/** Removes orphaned files until the signal aborts. */
export function cleanOrphansLoop(deps: CleanSegmentsDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'orphans', idleMs: 60 * 60_000, signal, log: deps.log }, async () => {
    await removeOrphanedFiles(deps);
    return false;
  });
}

/** Removes files that compaction or retention replaced, once no query and no backup can still be reading them. Returns the number of files. */
export async function removeReplacedFiles(deps: CleanSegmentsDeps, graceMs = queryGraceMs): Promise<number> {
  const replaced = await acrossOrgs(deps.db, async (tx) =>
    (await isBackupRunningAcrossOrgs(tx)) ? [] : listReplacedAcrossOrgs(tx, graceMs),
  );
  for (const { orgId, ...segment } of replaced) await removeReplaced(deps, orgId, segment);
  return replaced.length;
}

/**
 * Removes every replaced file of a dataset without a grace period, because an erasure must leave no readable copy. A query that has not opened
 * such a file yet fails with `engine_failed` and is retried.
 */
export async function removeReplacedFilesOfDataset(
  deps: CleanSegmentsDeps,
  orgId: OrgId,
  dataset: string,
): Promise<void> {
  const replaced = await inOrg(deps.db, orgId, (tx) => listReplacedOfDataset(tx, orgId, dataset));
  for (const segment of replaced) await removeReplaced(deps, orgId, segment);
}

/** The row goes last, so that a crash in between leaves no file without a row. */
async function removeReplaced(
  { db, segmentStore }: CleanSegmentsDeps,
  orgId: OrgId,
  { id, path }: { id: string; path: string },
): Promise<void> {
  await segmentStore.remove(orgId, path);
  await inOrg(db, orgId, (tx) => deleteReplacedSegment(tx, orgId, id));
}

/**
 * Removes files that are not listed as segments, left behind by processes that were killed before they published them. Their events were
 * never reported as accepted. Files younger than `graceMs` are kept, because they may still be published. Returns the number of files.
 */
export async function removeOrphanedFiles(deps: CleanSegmentsDeps, graceMs = orphanGraceMs): Promise<number> {
  let removed = 0;
  for await (const { orgId, files } of deps.segmentStore.list()) {
    const old = files.filter(({ modifiedAt }) => Date.now() - modifiedAt.getTime() >= graceMs);
    for (const path of await findUnlisted(deps, { orgId, files: old })) {
      await deps.segmentStore.remove(orgId, path);
      removed += 1;
    }
  }
  return removed;
}

/**
 * Removes local copies of files that are no longer listed, every minute until the signal aborts. Other processes thus drop their copies of
 * events that were erased.
 */
export function cleanCopiesLoop(deps: CleanSegmentsDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'copies', idleMs: 60_000, signal, log: deps.log }, async () => {
    await removeUnlistedCopies(deps);
    return false;
  });
}

export async function removeUnlistedCopies(deps: CleanSegmentsDeps): Promise<void> {
  for (const copies of deps.segmentStore.listCopies())
    for (const path of await findUnlisted(deps, copies)) deps.segmentStore.removeCopy(copies.orgId, path);
}

async function findUnlisted({ db }: CleanSegmentsDeps, { orgId, files }: StoredFiles): Promise<string[]> {
  if (files.length === 0) return [];
  const paths = files.map(({ path }) => path);
  const listed = await inOrg(db, orgId, (tx) => findListedPaths(tx, orgId, paths));
  return paths.filter((path) => !listed.has(path));
}

// An arbitrary advisory lock ID that nothing else uses.
const lockId = 8_423_004;

/** Keeps the files of replaced segments until the connection ends, so that a backup can copy what its snapshot lists. */
export async function keepReplacedFiles(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1)', [lockId]);
}

/** Returns whether a backup copies files. One that begins later copies no file that is replaced now. */
async function isBackupRunningAcrossOrgs(tx: Tx): Promise<boolean> {
  const row = await queryRow<{ free: boolean }>(tx)`select pg_try_advisory_xact_lock(${lockId}) as free`;
  return !row!.free;
}
