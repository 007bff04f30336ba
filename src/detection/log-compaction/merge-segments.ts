import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { inOrg, type Db } from '../../platform/db/db.ts';
import { mayHaveCommitted } from '../../platform/db/retry-on-conflict.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { loadCatalog, saveStoredColumns, lockDataset, type CatalogCache } from '../log-store/catalog/catalog.store.ts';
import { assignStoredColumns, listStoredFields, type CatalogField } from '../log-store/catalog/catalog.ts';
import type { LogEngine } from '../log-engine/process/engine.ts';
import { createDurableFolder, moveFile, syncFile, partialPath, segmentPath } from '../log-store/files/segment-file.ts';
import { toSegmentFile } from '../log-query/search/window-scans.ts';
import { writeManifest } from '../log-store/write-manifests.ts';
import { findDatasetStates, type SegmentRow } from '../log-store/segments.store.ts';
import { startPublishing, withLocalFiles, type SegmentStore } from '../log-store/files/segment-store.ts';
import { compactSql, contentSql, type ErasureTarget, type FileContent } from './compact.sql.ts';
import { replaceSegments, type MergedFile } from './compact.store.ts';

export type MergeSegmentsDeps = { db: Db; segmentStore: SegmentStore; engine: LogEngine; logCatalogs: CatalogCache };

/** Where a merged file goes. `folder` is relative to the organization's. `published`: other engines read it. */
export type MergeTarget = { folder: string; published: boolean };

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
