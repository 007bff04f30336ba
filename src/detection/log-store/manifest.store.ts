import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

type ManifestKey = { orgId: OrgId; dataset: string };

/** Returns up to 500 datasets whose manifest does not list their published files. */
export function listDueManifestsAcrossOrgs(tx: Tx): Promise<ManifestKey[]> {
  return queryRows<ManifestKey>(tx)`
    select organization_id as "orgId", dataset from dataset_manifests where version <> written_version order by 1, 2 limit 500`;
}

/** Waits until no other process writes the manifest, until the transaction ends. Batches and merged files can be published meanwhile. */
export async function lockManifest(tx: Tx, { orgId, dataset }: ManifestKey): Promise<void> {
  await lockName(tx, `manifest ${orgId} ${dataset}`);
}

/** Returns the version of a manifest that has to be written, or undefined. */
export async function findDueVersion(tx: Tx, { orgId, dataset }: ManifestKey): Promise<number | undefined> {
  const row = await queryRow<{ version: number }>(tx)`
    select version from dataset_manifests
    where organization_id = ${orgId} and dataset = ${dataset} and version <> written_version`;
  return row?.version;
}

export async function setWrittenVersion(tx: Tx, { orgId, dataset }: ManifestKey, version: number): Promise<void> {
  await sql`
    update dataset_manifests set written_version = ${version} where organization_id = ${orgId} and dataset = ${dataset}`.execute(
    tx,
  );
}

/** A published file with its columns' number, size and bounds. */
export type PublishedFile = {
  path: string;
  history: boolean;
  columns: number;
  rows: number;
  bytes: number;
  sha256: string | null;
  ingestedFrom: Date;
  ingestedTo: Date;
  timeFrom: Date;
  timeTo: Date;
};

/** Returns the published files of a dataset, oldest first. */
export function listPublishedFiles(tx: Tx, { orgId, dataset }: ManifestKey): Promise<PublishedFile[]> {
  return queryRows<PublishedFile>(tx)`
    select path, history, columns, rows, bytes, sha256, ingested_from as "ingestedFrom", ingested_to as "ingestedTo", time_from as "timeFrom",
      time_to as "timeTo" from segments
    where organization_id = ${orgId} and dataset = ${dataset} and replaced_at is null and published order by ingested_from, id`;
}
