import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { FileFields } from '../managed/file-fields.ts';

/** A detection that an organization has from a pack. `fields` are those that were applied last. */
export type PackInstall = { file: string; detectionId: string; version: string; fields: FileFields };

/** Returns the detections of a pack by file, with those that the organization deleted. */
export async function listPackInstalls(tx: Tx, orgId: OrgId, pack: string): Promise<Map<string, PackInstall>> {
  const rows = await queryRows<{ file: string; detectionId: string; version: string; fields: string }>(tx)`
    select file, detection_id as "detectionId", version, fields from pack_installs
    where organization_id = ${orgId} and pack = ${pack} order by file`;
  return new Map(rows.map((row) => [row.file, { ...row, fields: JSON.parse(row.fields) as FileFields }]));
}

/** Returns the pack that a detection comes from, or undefined if it comes from none. */
export async function findPackInstall(
  tx: Tx,
  orgId: OrgId,
  detectionId: string,
): Promise<(PackInstall & { pack: string; appliedAt: Date }) | undefined> {
  const [row] = await queryRows<Omit<PackInstall, 'fields'> & { pack: string; fields: string; appliedAt: Date }>(tx)`
    select pack, file, detection_id as "detectionId", version, fields, applied_at as "appliedAt" from pack_installs
    where organization_id = ${orgId} and detection_id = ${detectionId} order by applied_at desc limit 1`;
  return row && { ...row, fields: JSON.parse(row.fields) as FileFields };
}

type PackKey = { orgId: OrgId; pack: string };

/** Returns the detections that files of a pack became and that are not deleted, by file. */
export async function findFromPack(
  tx: Tx,
  { orgId, pack }: PackKey,
  files: readonly string[],
): Promise<Map<string, string>> {
  const rows = await queryRows<{ file: string; detectionId: string }>(tx)`
    select i.file, i.detection_id as "detectionId"
    from pack_installs i join agents a on a.organization_id = i.organization_id and a.id = i.detection_id
    where i.organization_id = ${orgId} and i.pack = ${pack} and i.file = any(${files}::text[]) and a.deleted_at is null`;
  return new Map(rows.map(({ file, detectionId }) => [file, detectionId]));
}

export const storePackInstallSql = (
  { orgId, pack }: PackKey,
  { file, detectionId, version, fields }: PackInstall,
  now: Date,
): RawBuilder<unknown> => sql`
    insert into pack_installs (organization_id, pack, file, detection_id, version, fields, applied_at)
    values (${orgId}, ${pack}, ${file}, ${detectionId}, ${version}, ${JSON.stringify(fields)}, ${now})
    on conflict (organization_id, pack, file) do update set detection_id = excluded.detection_id, version = excluded.version,
      fields = excluded.fields, applied_at = excluded.applied_at`;

export async function deletePackInstall(tx: Tx, { orgId, pack }: PackKey, file: string): Promise<void> {
  await sql`
    delete from pack_installs where organization_id = ${orgId} and pack = ${pack} and file = ${file}`.execute(tx);
}
