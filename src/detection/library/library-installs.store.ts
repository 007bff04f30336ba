import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { FileFields } from '../as-code/file-fields.ts';
import type { DatasetNames } from './library-version.ts';

/** A shipped detection that an organization has installed. `fields` are those of the version that was installed last. */
export type LibraryInstall = {
  libraryId: string;
  detectionId: string;
  version: string;
  fields: FileFields;
  datasets: DatasetNames;
};

/** Returns the installed detections that are not deleted, by library id. */
export async function listInstalls(tx: Tx, orgId: OrgId): Promise<Map<string, LibraryInstall>> {
  const rows = await queryRows<{
    libraryId: string;
    detectionId: string;
    version: string;
    fields: string;
    datasets: string;
  }>(tx)`
      select i.library_id as "libraryId", i.detection_id as "detectionId", i.version, i.fields, i.datasets
      from library_installs i join agents a on a.organization_id = i.organization_id and a.id = i.detection_id
      where i.organization_id = ${orgId} and a.deleted_at is null`;
  return new Map(
    rows.map((row) => [
      row.libraryId,
      {
        ...row,
        fields: JSON.parse(row.fields) as FileFields,
        datasets: JSON.parse(row.datasets) as DatasetNames,
      },
    ]),
  );
}

/** Waits for other installations of the same shipped detection, until the transaction ends. */
export const lockLibraryId = (tx: Tx, orgId: OrgId, libraryId: string): Promise<void> =>
  lockName(tx, `library ${orgId} ${libraryId}`);

/** Stores the detection that is installed, and replaces an earlier one that was deleted. */
export async function storeInstall(tx: Tx, orgId: OrgId, install: LibraryInstall, now: Date): Promise<void> {
  const { libraryId, detectionId, version, fields, datasets } = install;
  await sql`
    insert into library_installs (organization_id, library_id, detection_id, version, fields, datasets, updated_at)
    values (${orgId}, ${libraryId}, ${detectionId}, ${version}, ${JSON.stringify(fields)}, ${JSON.stringify(datasets)}, ${now})
    on conflict (organization_id, library_id) do update set detection_id = excluded.detection_id, version = excluded.version,
      fields = excluded.fields, datasets = excluded.datasets, updated_at = excluded.updated_at`.execute(tx);
}
