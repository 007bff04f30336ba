import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { HitStatus } from './hits.schema.ts';

export type LockedHit = { id: string; detectionId: string; status: HitStatus };

/** Finds a hit and locks it until the transaction ends. */
export function lockHit(tx: Tx, orgId: OrgId, id: string): Promise<LockedHit | undefined> {
  return queryRow<LockedHit>(
    tx,
  )`select id, detection_id as "detectionId", status from hits where organization_id = ${orgId} and id = ${id} for update`;
}

export type HitStatusChange = { to: HitStatus; reason: string | null; keyId: string | null; now: Date };

/** Columns of `hit_reviews` that count a status. */
const reviewColumns: Partial<Record<HitStatus, string>> = {
  true_positive: 'true_positives',
  benign: 'benign',
  false_positive: 'false_positives',
};

/** Sets the status of a locked hit, appends the change to its history, and counts it in the reviews of the detection. */
export async function storeStatus(tx: Tx, orgId: OrgId, hit: LockedHit, change: HitStatusChange): Promise<void> {
  const { to, reason, keyId, now } = change;
  await sql`
    with changed as (
      update hits set status = ${to}, superseded = false, revision = revision + 1, updated_at = ${now}
      where organization_id = ${orgId} and id = ${hit.id}
    )
    insert into hit_changes (organization_id, id, hit_id, at, key_id, from_status, to_status, reason)
    values (${orgId}, ${uuidv7(now)}, ${hit.id}, ${now}, ${keyId}, ${hit.status}, ${to}, ${reason})`.execute(tx);
  const counts = [
    { column: reviewColumns[hit.status], by: -1 },
    { column: reviewColumns[to], by: 1 },
  ];
  for (const { column, by } of counts) {
    if (column === undefined) continue;
    await sql`
      insert into hit_reviews as r (organization_id, detection_id, ${sql.ref(column)}) values (${orgId}, ${hit.detectionId}, greatest(${by}, 0))
      on conflict (organization_id, detection_id) do update set ${sql.ref(column)} = greatest(r.${sql.ref(column)} + ${by}, 0)`.execute(
      tx,
    );
  }
}

export type StatusChangeRow = { at: Date; keyId: string | null; from: HitStatus; to: HitStatus; reason: string | null };

/** Lists the status changes of a hit, latest first. */
export function listStatusChanges(tx: Tx, orgId: OrgId, hitId: string, limit: number): Promise<StatusChangeRow[]> {
  return queryRows<StatusChangeRow>(tx)`
      select at, key_id as "keyId", from_status as "from", to_status as "to", reason from hit_changes
      where organization_id = ${orgId} and hit_id = ${hitId} order by at desc, id desc limit ${limit}`;
}

/** Counts the hits of a detection that analysts judged, and how many of them were true positives. Benign hits are not. */
export async function countReviewedHits(
  tx: Tx,
  { orgId, detectionId }: { orgId: OrgId; detectionId: string },
): Promise<{ total: number; right: number }> {
  const counts = await queryRow<{ total: number; right: number }>(tx)`
      select true_positives + benign + false_positives as total, true_positives as "right" from hit_reviews
      where organization_id = ${orgId} and detection_id = ${detectionId}`;
  return counts ?? { total: 0, right: 0 };
}

export type ReviewedHit = { key: string; status: HitStatus };

/** Lists the hits of a detection in a range of time that analysts judged. */
export function listReviewedHits(
  tx: Tx,
  { orgId, detectionId }: { orgId: OrgId; detectionId: string },
  { from, to }: { from: Date; to: Date },
): Promise<ReviewedHit[]> {
  return queryRows<ReviewedHit>(tx)`
      select key, status from hits where organization_id = ${orgId} and detection_id = ${detectionId}
        and status in ('true_positive', 'benign', 'false_positive') and window_from < ${to} and window_to > ${from}`;
}
