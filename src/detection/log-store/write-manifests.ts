import { acrossOrgs, inOrg, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { loadCatalog, type CatalogCache } from './catalog/catalog.store.ts';
import { manifestPath } from './files/segment-path.ts';
import { findDatasetStates } from './segments.store.ts';
import type { SegmentStore } from './files/segment-store.ts';
import { buildManifest } from './build-manifest.ts';
import {
  findDueVersion,
  listDueManifestsAcrossOrgs,
  listPublishedFiles,
  lockManifest,
  setWrittenVersion,
} from './manifest.store.ts';

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
