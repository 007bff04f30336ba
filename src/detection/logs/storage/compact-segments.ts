import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { acrossOrgs, inOrg, type Db } from '../../../platform/db/db.ts';
import { mayHaveCommitted } from '../../../platform/db/commit-failure.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { DiskGuard } from '../../../platform/lib/disk-guard.ts';
import type { Logger } from '../../../platform/lib/logger.ts';
import { runLoop } from '../../../platform/lib/loop.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { loadCatalog, type CatalogCache } from '../catalog/catalog.store.ts';
import type { CatalogField } from '../catalog/catalog.ts';
import type { LogEngine } from '../engine/engine.ts';
import { storedColumnsMax } from '../engine/table-sql.ts';
import { syncFile } from '../ingestion/segment-file.ts';
import { toSegmentFile } from '../query/window-scans.ts';
import { compactSql, type ErasureTarget } from './compact.sql.ts';
import {
  findFragmentedDatasetAcrossOrgs,
  listSmallSegments,
  replaceSegments,
  type CompactLimits,
} from './compact.store.ts';
import { segmentPath } from './segment-path.ts';
import { findDatasetStates, type SegmentRow } from './segments.store.ts';
import { startPublishing } from './store/publish-deadline.ts';
import { withLocalFiles, type SegmentStore } from './store/segment-store.ts';

type CompactSegmentsDeps = {
  db: Db;
  segmentStore: SegmentStore;
  engine: LogEngine;
  logCatalogs: CatalogCache;
};

const defaultLimits: CompactLimits = { filesMin: 16, filesMax: 200, bytesMax: 64 * 1024 * 1024, rowsMax: 300_000 };
const timeoutMs = 120_000;
const failedMs = 3_600_000;

/** The datasets whose segments could not be merged within the last hour, by organization and name. */
type FailedDatasets = LRUCache<string, true>;

/** Merges small segments into large ones until the signal aborts, except while the disk is full: a merged segment exists beside the small ones for a while. */
export function compactSegmentsLoop(
  deps: CompactSegmentsDeps & { log: Logger; diskGuard: DiskGuard },
  signal: AbortSignal,
): Promise<void> {
  const failed: FailedDatasets = new LRUCache({ max: 1_000, ttl: failedMs });
  return runLoop(
    { name: 'compact', idleMs: 60_000, signal, log: deps.log },
    async () => (await deps.diskGuard.hasSpace()) && compactSegments(deps, defaultLimits, failed),
  );
}

/**
 * Merges the small segments of one dataset into one Parquet file and replaces them in one transaction. Returns whether there was anything to
 * do, so that a loop can call it again immediately. Any number of processes may call it at the same time. Adds a dataset that fails to `failed`, whose
 * datasets it leaves alone, so that the others do not wait for it.
 */
export async function compactSegments(
  deps: CompactSegmentsDeps,
  limits = defaultLimits,
  failed?: FailedDatasets,
): Promise<boolean> {
  const skipped = [...(failed?.keys() ?? [])];
  const fragmented = await acrossOrgs(deps.db, (tx) => findFragmentedDatasetAcrossOrgs(tx, limits, skipped));
  if (!fragmented) return false;
  const { orgId, dataset, history } = fragmented;
  const { segments, fields } = await inOrg(deps.db, orgId, async (tx) => {
    const small = await listSmallSegments(tx, orgId, { dataset, history, limits });
    const [state] = await findDatasetStates(tx, orgId, [dataset]);
    // Loaded after the segments, so that the catalog contains every key of their events.
    return {
      segments: small,
      fields: await loadCatalog(tx, deps.logCatalogs, { orgId, dataset, version: state?.version ?? 0 }),
    };
  });
  if (segments.length < 2) return false;
  return mergeSegments(deps, orgId, { dataset, segments, fields }).catch((error: unknown) => {
    failed?.set(`${orgId}/${dataset}`, true);
    throw error;
  });
}

/** Merges segments into one file that replaces them, optionally without a value that has to be erased. */
export async function mergeSegments(
  deps: CompactSegmentsDeps,
  orgId: OrgId,
  input: { dataset: string; segments: SegmentRow[]; fields: CatalogField[]; erased?: ErasureTarget },
): Promise<boolean> {
  const { dataset, segments, erased } = input;
  const fields = input.fields.slice(0, storedColumnsMax);
  const { segmentStore } = deps;
  const id = uuidv7();
  const folder = segmentStore.folderOf(orgId);
  const path = segmentPath(dataset, id, 'parquet');
  const target = join(folder, path);
  const files = segments.map((segment) => toSegmentFile(segment, folder));
  const checkDeadline = startPublishing();
  let isStored = false;
  try {
    await withLocalFiles(segmentStore, orgId, segments, () =>
      deps.engine.maintain(orgId, { statements: [compactSql(files, fields, target, erased)] }, { timeoutMs }),
    );
    const bytes = await syncFile(target);
    const sha256 = await segmentStore.put(orgId, path);
    isStored = true;
    const ids = segments.map((segment) => segment.id);
    const isReplaced = await inOrg(deps.db, orgId, async (tx) => {
      const replaced = await replaceSegments(tx, orgId, { id, path, bytes, sha256, columns: fields.length, ids });
      checkDeadline();
      return replaced;
    });
    if (!isReplaced) await segmentStore.remove(orgId, path);
    return true;
  } catch (error) {
    // A file that is perhaps listed stays. If it is not, it is removed later as an orphan.
    if (!isStored || !mayHaveCommitted(error)) await segmentStore.remove(orgId, path).catch(() => undefined);
    throw error;
  }
}
