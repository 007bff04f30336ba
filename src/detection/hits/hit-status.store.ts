import { sql } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { HitStatus } from './hits.schema.ts';

export type LockedHit = { id: string; detectionId: string; status: HitStatus };

/** A hit, its row locked to the end of the transaction. */
export function lockHit(tx: Tx, orgId: OrgId, id: string): Promise<LockedHit | undefined> {
  return row(
    tx,
    sql<LockedHit>`select id, detection_id as "detectionId", status from hits where organization_id = ${orgId} and id = ${id} for update`,
  );
}

export type StatusChange = { to: HitStatus; reason: string | null; keyId: string | null; now: Date };

const counters: Partial<Record<HitStatus, string>> = {
  true_positive: 'true_positives',
  benign: 'benign',
  false_positive: 'false_positives',
};

/** Sets a locked hit's status, keeps the change in its history, and counts what people said of the detection. */
export async function storeStatus(tx: Tx, orgId: OrgId, hit: LockedHit, change: StatusChange): Promise<void> {
  const { to, reason, keyId, now } = change;
  await sql`
    with changed as (
      update hits set status = ${to}, superseded = false, revision = revision + 1, updated_at = ${now}
      where organization_id = ${orgId} and id = ${hit.id}
    )
    insert into hit_changes (organization_id, id, hit_id, at, key_id, from_status, to_status, reason)
    values (${orgId}, ${uuidv7(now)}, ${hit.id}, ${now}, ${keyId}, ${hit.status}, ${to}, ${reason})`.execute(tx);
  const steps = [
    { column: counters[hit.status], by: -1 },
    { column: counters[to], by: 1 },
  ];
  for (const { column, by } of steps) {
    if (column === undefined) continue;
    await sql`
      insert into hit_reviews as r (organization_id, detection_id, ${sql.ref(column)}) values (${orgId}, ${hit.detectionId}, greatest(${by}, 0))
      on conflict (organization_id, detection_id) do update set ${sql.ref(column)} = greatest(r.${sql.ref(column)} + ${by}, 0)`.execute(
      tx,
    );
  }
}

export type ChangeRow = { at: Date; keyId: string | null; from: HitStatus; to: HitStatus; reason: string | null };

/** Changes of a hit's status, latest first. */
export function listChanges(tx: Tx, orgId: OrgId, hitId: string, limit: number): Promise<ChangeRow[]> {
  return rows(
    tx,
    sql<ChangeRow>`
      select at, key_id as "keyId", from_status as "from", to_status as "to", reason from hit_changes
      where organization_id = ${orgId} and hit_id = ${hitId} order by at desc, id desc limit ${limit}`,
  );
}

/** How many of a detection's hits people judged, and how many of those were right: a benign one was not worth raising. */
export async function findReviewed(
  tx: Tx,
  ref: { orgId: OrgId; detectionId: string },
): Promise<{ total: number; right: number }> {
  const found = await row(
    tx,
    sql<{ total: number; right: number }>`
      select true_positives + benign + false_positives as total, true_positives as "right" from hit_reviews
      where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}`,
  );
  return found ?? { total: 0, right: 0 };
}

export type ReviewedHit = { key: string; status: HitStatus };

/** A detection's hits of a stretch of time that people judged. */
export function listReviewedHits(
  tx: Tx,
  ref: { orgId: OrgId; detectionId: string },
  { from, to }: { from: Date; to: Date },
): Promise<ReviewedHit[]> {
  return rows(
    tx,
    sql<ReviewedHit>`
      select key, status from hits where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}
        and status in ('true_positive', 'benign', 'false_positive') and window_from < ${to} and window_to > ${from}`,
  );
}
