import { LRUCache } from 'lru-cache';
import { acrossOrgs, inOrg } from '../../platform/db/db.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { publishedFolder } from '../log-store/files/segment-file.ts';
import { findCompactJobAcrossOrgs, listJobSegments, type CompactJob, type CompactLimits } from './compact.store.ts';
import { mergeSegments, type MergeTarget, type MergeSegmentsDeps } from './merge-segments.ts';

const defaultLimits: CompactLimits = {
  filesMin: 16,
  filesMax: 200,
  bytesMax: 64 * 1024 * 1024,
  rowsMax: 300_000,
  hourRowsMin: 10_000,
};
const failedMs = 3_600_000;

/** The datasets whose segments could not be merged within the last hour, by organization and name. */
type FailedDatasets = LRUCache<string, true>;

/** Merges segments until the signal aborts, except while the disk is full: a merged segment exists beside the small ones for a while. */
export function compactSegmentsLoop(
  deps: MergeSegmentsDeps & { log: Logger; diskGuard: DiskGuard },
  signal: AbortSignal,
): Promise<void> {
  const failed: FailedDatasets = new LRUCache({ max: 1_000, ttl: failedMs });
  return runLoop(
    { name: 'compact', idleMs: 60_000, signal, log: deps.log },
    async () => (await deps.diskGuard.hasSpace()) && compactSegments(deps, defaultLimits, failed),
  );
}

/**
 * Merges segments of one dataset and replaces them in one transaction. Those of an hour or day that is over become files for other engines. Returns
 * whether there was anything to do, so that a loop can call it again immediately. Any number of processes may call it at the same time. Adds
 * a dataset that fails to `failed`, whose datasets it leaves alone, so that the others do not wait for it.
 */
export async function compactSegments(
  deps: MergeSegmentsDeps,
  limits = defaultLimits,
  failed?: FailedDatasets,
): Promise<boolean> {
  const skipped = [...(failed?.keys() ?? [])];
  const job = await acrossOrgs(deps.db, (tx) => findCompactJobAcrossOrgs(tx, limits, skipped));
  if (!job) return false;
  const { orgId, dataset } = job;
  const segments = await inOrg(deps.db, orgId, (tx) => listJobSegments(tx, job, limits));
  // Another process may have merged them.
  if (segments.length < (job.kind === 'merge' ? 2 : 1)) return false;
  return mergeSegments(deps, orgId, { dataset, segments, target: targetOf(job) }).catch((error: unknown) => {
    failed?.set(`${orgId}/${dataset}`, true);
    throw error;
  });
}

const targetOf = ({ kind, dataset, from }: CompactJob): MergeTarget =>
  kind === 'merge'
    ? { folder: dataset, published: false }
    : { folder: publishedFolder(dataset, from, kind), published: true };
