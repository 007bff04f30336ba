import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { acrossOrgs, type Db, inOrg } from '../../platform/db/db.ts';
import { mayHaveCommitted } from '../../platform/db/retry-on-conflict.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import type { LogEngine } from '../log-engine/process/engine.ts';
import { toSegmentFile } from '../log-query/search/window-scans.ts';
import { type CatalogCache, loadCatalog, lockDataset, saveStoredColumns } from '../log-store/catalog/catalog.store.ts';
import { assignStoredColumns, type CatalogField, listStoredFields } from '../log-store/catalog/catalog.ts';
import {
  createDurableFolder,
  moveFile,
  partialPath,
  publishedFolder,
  segmentPath,
  syncFile,
} from '../log-store/files/segment-file.ts';
import { type SegmentStore, startPublishing, withLocalFiles } from '../log-store/files/segment-store.ts';
import { findDatasetStates, type SegmentRow } from '../log-store/segments.store.ts';
import { writeManifest } from '../log-store/write-manifests.ts';
import {
  compactSql,
  contentSql,
  type ErasureTarget,
  type FileContent,
  type CompactJob,
  type CompactLimits,
  findCompactJobAcrossOrgs,
  listJobSegments,
  type MergedFile,
  replaceSegments,
} from './compact.store.ts';

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

type MergeSegmentsDeps = { db: Db; segmentStore: SegmentStore; engine: LogEngine; logCatalogs: CatalogCache };

/** Where a merged file goes. `folder` is relative to the organization's. `published`: other engines read it. */
type MergeTarget = { folder: string; published: boolean };

type MergeInput = { dataset: string; segments: SegmentRow[]; target: MergeTarget; erased?: ErasureTarget };

const timeoutMs = 120_000;

/** Merges segments into a file that replaces them, optionally without a value that has to be erased. */
export async function mergeSegments(deps: MergeSegmentsDeps, orgId: OrgId, input: MergeInput): Promise<boolean> {
  const { db, segmentStore } = deps;
  const { dataset, segments, target } = input;
  const fields = await loadStoredFields(deps, orgId, dataset);
  const checkDeadline = startPublishing();
  const id = uuidv7();
  const path = segmentPath(target.folder, id, target.published ? 'published' : 'typed');
  let isStored = false;
  try {
    const written = await withLocalFiles(segmentStore, orgId, segments, async () => {
      const partial = join(segmentStore.folderOf(orgId), partialPath(id));
      try {
        const content = await writeMerged(deps, orgId, { ...input, fields, partial });
        checkRows(content, segments);
        return { ...content, ...(await storeMerged(deps, orgId, { partial, path })) };
      } finally {
        await unlink(partial).catch(() => undefined);
      }
    });
    isStored = true;
    const ids = segments.map((segment) => segment.id);
    const file = { id, path, published: target.published, columns: listStoredFields(fields).length, ...written };
    const isReplaced = await inOrg(db, orgId, async (tx) => {
      const replaced = await replaceSegments(tx, orgId, { ids, file });
      checkDeadline();
      return replaced;
    });
    if (!isReplaced) await segmentStore.remove(orgId, path);
  } catch (error) {
    // A file that is perhaps listed stays. If it is not, it is removed later as an orphan.
    if (!isStored || !mayHaveCommitted(error)) await segmentStore.remove(orgId, path).catch(() => undefined);
    throw error;
  }
  // If this fails, `cleanSegmentsLoop` writes it.
  if (target.published) await writeManifest(deps, orgId, dataset).catch(() => undefined);
  return true;
}

/** Returns the columns of a dataset, all of which with a type have a place in its files, as far as there is room. */
async function loadStoredFields(
  { db, logCatalogs }: MergeSegmentsDeps,
  orgId: OrgId,
  dataset: string,
): Promise<CatalogField[]> {
  return inOrg(db, orgId, async (tx) => {
    const [state] = await findDatasetStates(tx, orgId, [dataset]);
    const fields = await loadCatalog(tx, logCatalogs, { orgId, dataset, version: state?.version ?? 0 });
    if (assignStoredColumns(fields).every((field, index) => field === fields[index])) return fields;
    const { version } = await lockDataset(tx, orgId, { dataset, now: new Date() });
    return saveStoredColumns(tx, logCatalogs, { orgId, dataset, version });
  });
}

/** Writes the merged events to a file of the organization's local folder and reads back what it contains. */
async function writeMerged(
  { segmentStore, engine }: MergeSegmentsDeps,
  orgId: OrgId,
  { segments, erased, fields, partial }: MergeInput & { fields: CatalogField[]; partial: string },
): Promise<FileContent> {
  const folder = segmentStore.folderOf(orgId);
  await createDurableFolder(folder);
  const files = segments.map((segment) => toSegmentFile(segment, folder));
  const statements = [compactSql({ files, fields, target: partial, erased }), contentSql(partial)];
  const [content] = await engine.maintain(orgId, { statements }, { timeoutMs });
  return content as FileContent;
}

/** Makes a merged file durable for every process, under its path. An engine that reads all files of a folder never sees an incomplete one. */
async function storeMerged(
  { segmentStore }: MergeSegmentsDeps,
  orgId: OrgId,
  { partial, path }: { partial: string; path: string },
): Promise<Pick<MergedFile, 'bytes' | 'sha256'>> {
  const bytes = await syncFile(partial);
  await moveFile(partial, join(segmentStore.folderOf(orgId), path));
  return { bytes, sha256: await segmentStore.put(orgId, path) };
}

/** Throws if a merged file does not contain every event exactly once. */
function checkRows({ rows }: FileContent, segments: SegmentRow[]): void {
  const expected = segments.reduce((sum, segment) => sum + segment.rows, 0);
  if (rows !== expected) throw new Error(`A merged log file has ${rows} events instead of ${expected}.`);
}
