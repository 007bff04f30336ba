import { acrossOrgs, inOrg, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { loadCatalog, type CatalogCache } from './catalog/catalog.store.ts';
import { manifestPath, pathInManifest } from './files/segment-file.ts';
import {
  findDatasetStates,
  findDueVersion,
  listDueManifestsAcrossOrgs,
  listPublishedFiles,
  lockManifest,
  type PublishedFile,
  setWrittenVersion,
} from './segments.store.ts';
import type { SegmentStore } from './files/segment-store.ts';
import { listStoredFields, type CatalogField } from './catalog/catalog.ts';
import { toEngineType } from './catalog/column-types.ts';

export type WriteManifestsDeps = { db: Db; segmentStore: SegmentStore; logCatalogs: CatalogCache };

/** Writes the manifest of every dataset whose published files have changed. Returns whether there may be more. */
export async function writeDueManifests(deps: WriteManifestsDeps): Promise<boolean> {
  const due = await acrossOrgs(deps.db, listDueManifestsAcrossOrgs);
  for (const { orgId, dataset } of due) await writeManifest(deps, orgId, dataset);
  return due.length > 0;
}

/** Writes the manifest of a dataset if its published files have changed. Files that change meanwhile are for the next call. */
export async function writeManifest(
  { db, segmentStore, logCatalogs }: WriteManifestsDeps,
  orgId: OrgId,
  dataset: string,
): Promise<void> {
  await inOrg(db, orgId, async (tx) => {
    await lockManifest(tx, { orgId, dataset });
    const version = await findDueVersion(tx, { orgId, dataset });
    if (version === undefined) return;
    const files = await listPublishedFiles(tx, { orgId, dataset });
    // Loaded after the files, so that the catalog has all of their columns.
    const [state] = await findDatasetStates(tx, orgId, [dataset]);
    const fields = await loadCatalog(tx, logCatalogs, { orgId, dataset, version: state!.version });
    // Inside the transaction, because its lock keeps an older list from replacing this one.
    await segmentStore.putText(orgId, manifestPath(dataset), buildManifest(dataset, fields, files));
    await setWrittenVersion(tx, { orgId, dataset }, version);
  });
}

/** The columns of every file. `_event` is the text of the event in JSON. */
const systemColumns = [
  { name: '_id', type: 'VARCHAR' },
  { name: '_time', type: 'TIMESTAMP' },
  { name: '_ingested', type: 'TIMESTAMP' },
  { name: '_event', type: 'JSON' },
];

/**
 * Returns the content of a manifest: the columns that files of the dataset have, and the files. `key` is the key of events whose values a column
 * has. A file has the first `columns` of the columns with a key. See docs/operate/parquet.md.
 */
function buildManifest(dataset: string, fields: readonly CatalogField[], files: PublishedFile[]): string {
  const columns = listStoredFields(fields).map(({ name, stored }) => ({
    name: stored.name,
    type: toEngineType(stored.type),
    key: name,
  }));
  const manifest = {
    version: 1,
    dataset,
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    columns: [...systemColumns, ...columns],
    files: files.map(({ path, sha256, ...file }) => ({
      path: pathInManifest(dataset, path),
      ...file,
      ...(sha256 === null ? {} : { sha256 }),
    })),
  };
  return `${JSON.stringify(manifest, null, 1)}\n`;
}
