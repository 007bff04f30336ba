import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { FileFields } from '../managed/file-fields.ts';
import type { DatasetNames } from './load-library.ts';

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

/** Returns the detections that shipped ones became and that are not deleted, by library id. */
export async function findInstalled(tx: Tx, orgId: OrgId, libraryIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await queryRows<{ libraryId: string; detectionId: string }>(tx)`
      select i.library_id as "libraryId", i.detection_id as "detectionId"
      from library_installs i join agents a on a.organization_id = i.organization_id and a.id = i.detection_id
      where i.organization_id = ${orgId} and i.library_id = any(${libraryIds}::text[]) and a.deleted_at is null`;
  return new Map(rows.map(({ libraryId, detectionId }) => [libraryId, detectionId]));
}

/** Returns the statement that stores the detection that is installed, and replaces an earlier one that was deleted. */
export function storeInstallSql(orgId: OrgId, install: LibraryInstall, now: Date): RawBuilder<unknown> {
  const { libraryId, detectionId, version, fields, datasets } = install;
  return sql`
    insert into library_installs (organization_id, library_id, detection_id, version, fields, datasets, updated_at)
    values (${orgId}, ${libraryId}, ${detectionId}, ${version}, ${JSON.stringify(fields)}, ${JSON.stringify(datasets)}, ${now})
    on conflict (organization_id, library_id) do update set detection_id = excluded.detection_id, version = excluded.version,
      fields = excluded.fields, datasets = excluded.datasets, updated_at = excluded.updated_at`;
}
