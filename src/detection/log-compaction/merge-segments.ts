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

/**
 * A file to write. `folder` is relative to the organization's. Without `ingested`, it contains all events of the segments, otherwise those that
 * were published in `[from, to)`, in milliseconds.
 */
export type FilePart = { folder: string; published: boolean; ingested?: { from: number; to: number } };

type MergeInput = {
  dataset: string;
  segments: SegmentRow[];
  /** Every event belongs to exactly one part. */
  parts: FilePart[];
  erased?: ErasureTarget;
};

const timeoutMs = 120_000;

/** Merges segments into files that replace them, optionally without a value that has to be erased. Parts without an event have no file. */
export async function mergeSegments(deps: MergeSegmentsDeps, orgId: OrgId, input: MergeInput): Promise<boolean> {
  const { db, segmentStore } = deps;
  const { dataset, segments, parts } = input;
  const fields = await loadStoredFields(deps, orgId, dataset);
  const checkDeadline = startPublishing();
  const written: string[] = [];
  let isStored = false;
  try {
    const files = await withLocalFiles(segmentStore, orgId, segments, async () => {
      const results: MergedFile[] = [];
      for (const part of parts) {
        const id = uuidv7();
        const path = segmentPath(part.folder, id, part.published ? 'published' : 'typed');
        written.push(path);
        const partial = join(segmentStore.folderOf(orgId), partialPath(id));
        try {
          const content = await writePart(deps, orgId, { ...input, fields, part, target: partial });
          if (content.rows === 0) continue;
          const stored = await storePart(deps, orgId, { partial, path });
          const columns = listStoredFields(fields).length;
          results.push({ id, path, published: part.published, columns, ...content, ...stored });
        } finally {
          await unlink(partial).catch(() => undefined);
        }
      }
      return results;
    });
    checkRows(files, segments);
    isStored = true;
    const ids = segments.map((segment) => segment.id);
    const isReplaced = await inOrg(db, orgId, async (tx) => {
      const replaced = await replaceSegments(tx, orgId, { ids, files });
      checkDeadline();
      return replaced;
    });
    if (!isReplaced) for (const path of written) await segmentStore.remove(orgId, path);
  } catch (error) {
    // A file that is perhaps listed stays. If it is not, it is removed later as an orphan.
    if (!isStored || !mayHaveCommitted(error))
      for (const path of written) await segmentStore.remove(orgId, path).catch(() => undefined);
    throw error;
  }
  // If this fails, `cleanSegmentsLoop` writes it.
  if (parts.some(({ published }) => published)) await writeManifest(deps, orgId, dataset).catch(() => undefined);
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

type PartInput = MergeInput & { fields: CatalogField[]; part: FilePart; target: string };

/** Writes a part to a file of the organization's local folder and reads back what it contains. */
async function writePart(
  { segmentStore, engine }: MergeSegmentsDeps,
  orgId: OrgId,
  { segments, erased, fields, part, target }: PartInput,
): Promise<FileContent> {
  const folder = segmentStore.folderOf(orgId);
  await createDurableFolder(folder);
  const files = segments.map((segment) => toSegmentFile(segment, folder));
  const statements = [compactSql({ files, fields, target, ingested: part.ingested, erased }), contentSql(target)];
  const [content] = await engine.maintain(orgId, { statements }, { timeoutMs });
  return content as FileContent;
}

/** Makes a written part durable for every process, under its path. An engine that reads all files of a folder never sees an incomplete one. */
async function storePart(
  { segmentStore }: MergeSegmentsDeps,
  orgId: OrgId,
  { partial, path }: { partial: string; path: string },
): Promise<Pick<MergedFile, 'bytes' | 'sha256'>> {
  const bytes = await syncFile(partial);
  await moveFile(partial, join(segmentStore.folderOf(orgId), path));
  return { bytes, sha256: await segmentStore.put(orgId, path) };
}

/** Throws if the files do not contain every event exactly once. */
function checkRows(files: FileContent[], segments: SegmentRow[]): void {
  const [written, expected] = [files, segments].map((list) => list.reduce((sum, { rows }) => sum + rows, 0));
  if (written !== expected) throw new Error(`A merged log file has ${written} events instead of ${expected}.`);
}
