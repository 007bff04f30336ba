import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { Warning } from '../record/detection.schema.ts';

/** Warnings about a detection's query at one revision. */
export type QueryWarnings = { revision: number; warnings: Warning[] };

/** Statement that replaces the stored warnings of a detection with `source`, a select of `revision` and `warnings`. Writes only differences. */
export const upsertQueryWarningsSql = ({ orgId, detectionId }: DetectionKey, source: RawBuilder<unknown>) =>
  upsertManyQueryWarningsSql(orgId, sql`select ${detectionId}::uuid as detection_id, one.* from (${source}) one`);

/** Like `upsertQueryWarningsSql`, for several detections: `source` is a select of `detection_id`, `revision` and `warnings`. */
export const upsertManyQueryWarningsSql = (orgId: OrgId, source: RawBuilder<unknown>) => sql`
    insert into query_warnings as w (organization_id, detection_id, revision, warnings)
    select ${orgId}::uuid, source.detection_id, source.revision, source.warnings from (${source}) source
    where source.warnings <> '[]' or exists (
      select from query_warnings k where k.organization_id = ${orgId} and k.detection_id = source.detection_id)
    on conflict (organization_id, detection_id) do update set revision = excluded.revision, warnings = excluded.warnings
    where w.revision <= excluded.revision and (w.revision, w.warnings) is distinct from (excluded.revision, excluded.warnings)`;

/** Stores the warnings of a check. Empty warnings clear those of an earlier check. */
export async function storeQueryWarnings(
  tx: Tx,
  key: DetectionKey,
  { revision, warnings }: QueryWarnings,
): Promise<void> {
  const source = sql`select ${revision}::int as revision, ${JSON.stringify(warnings)}::text as warnings`;
  await upsertQueryWarningsSql(key, source).execute(tx);
}

/** Keeps the warnings of a detection that changed in nothing they depend on. */
export async function carryQueryWarnings(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await sql`update query_warnings set revision = ${to}
    where organization_id = ${orgId} and detection_id = ${detectionId} and revision = ${from}`.execute(tx);
}
