import { sql } from 'kysely';
import { currentActor } from '../../platform/orgs/sessions/persons.store.ts';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Author } from '../../platform/http/caller.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { HitStatus } from './hits.schema.ts';
import { toValueKey } from './read-hits.store.ts';

/** `changedRevision` is that of the last change apart from being seen again. */
export type LockedHit = {
  id: string;
  detectionId: string;
  status: HitStatus;
  revision: number;
  changedRevision: number;
};

const lockedColumns = sql`id, detection_id as "detectionId", status, revision, changed_revision as "changedRevision"`;

/** Finds a hit and locks it until the transaction ends. */
export function lockHit(tx: Tx, orgId: OrgId, id: string): Promise<LockedHit | undefined> {
  return queryRow<LockedHit>(tx)`
    select ${lockedColumns} from hits where organization_id = ${orgId} and id = ${id} for update`;
}

/** Lists the hits of a group and locks them until the transaction ends. */
export function lockGroupHits(tx: Tx, orgId: OrgId, groupId: string): Promise<LockedHit[]> {
  return queryRows<LockedHit>(tx)`
      select ${lockedColumns} from hits where organization_id = ${orgId} and group_id = ${groupId}
      order by id for update`;
}

/** Lists the hits of an incident and locks them until the transaction ends. */
export function lockIncidentHits(tx: Tx, orgId: OrgId, incidentId: string): Promise<LockedHit[]> {
  return queryRows<LockedHit>(tx)`
      select ${lockedColumns} from hits where organization_id = ${orgId} and id in (
        select hit_id from incident_hits where organization_id = ${orgId} and incident_id = ${incidentId})
      order by id for update`;
}

/** Lists the hits whose rows have one of the values, and locks them until the transaction ends. */
export function lockHitsWithValues(tx: Tx, orgId: OrgId, values: readonly string[]): Promise<LockedHit[]> {
  return queryRows<LockedHit>(tx)`
      select ${lockedColumns} from hits where organization_id = ${orgId} and id in (select hit_id from hit_values
        where organization_id = ${orgId} and value_key = any(${values.map(toValueKey)}::uuid[])) order by id for update`;
}

/** `batchId` identifies changes that can be undone together. */
export type HitStatusChange = { to: HitStatus; reason: string | null; author: Author; now: Date; batchId?: string };

/** A hit that a batch changed last. `former` is its status before the batch. */
export type BatchHit = LockedHit & { former: HitStatus };

/**
 * Lists the hits that have not changed since a batch, only those of a group if one is given, and locks them until the transaction ends. Returns
 * undefined if there is no such batch.
 */
export async function lockBatchHits(
  tx: Tx,
  orgId: OrgId,
  { groupId, batchId }: { groupId?: string; batchId: string },
): Promise<BatchHit[] | undefined> {
  const rows = await queryRows<BatchHit & { isLatest: boolean }>(tx)`
      select h.id, h.detection_id as "detectionId", h.status, h.revision, h.changed_revision as "changedRevision", c.from_status as former,
        h.status = c.to_status and not exists (select from hit_changes later where later.organization_id = c.organization_id
          and later.hit_id = c.hit_id and (later.at, later.id) > (c.at, c.id)) as "isLatest"
      from hit_changes c join hits h on h.organization_id = c.organization_id and h.id = c.hit_id
      where c.organization_id = ${orgId} and c.batch_id = ${batchId} ${groupId === undefined ? sql`` : sql`and h.group_id = ${groupId}`}
      order by h.id for update of h`;
  return rows.length === 0 ? undefined : rows.filter(({ isLatest }) => isLatest);
}

/** Columns of `hit_reviews` that count a status. */
const reviewColumns: Partial<Record<HitStatus, string>> = {
  true_positive: 'true_positives',
  benign: 'benign',
  false_positive: 'false_positives',
};

/** Sets the status of a locked hit, appends the change to its history, and counts it in the reviews of the detection. */
export const storeStatus = (tx: Tx, orgId: OrgId, hit: LockedHit, change: HitStatusChange): Promise<void> =>
  storeStatuses(tx, orgId, [hit], change);

/** Like `storeStatus`, for several hits of one detection. */
export async function storeStatuses(tx: Tx, orgId: OrgId, hits: LockedHit[], change: HitStatusChange): Promise<void> {
  const [first] = hits;
  if (!first) return;
  const { to, reason, author, now, batchId = null } = change;
  const ids = hits.map(({ id }) => id);
  await sql`
    with changed as (
      update hits set status = ${to}, superseded = false, revision = revision + 1, changed_revision = revision + 1, updated_at = ${now}
      where organization_id = ${orgId} and id = any(${ids}::uuid[])
    )
    insert into hit_changes (organization_id, id, hit_id, at, key_id, actor, person_id, from_status, to_status, reason, batch_id, revision)
    select ${orgId}::uuid, change_id, hit_id, ${now}::timestamptz, ${author.keyId}, ${author.subject ?? null}, ${author.personId ?? null}::uuid,
      from_status, ${to}, ${reason}, ${batchId}::uuid, revision
    from unnest(${ids.map(() => uuidv7(now))}::uuid[], ${ids}::uuid[], ${hits.map(({ status }) => status)}::text[],
      ${hits.map(({ revision }) => revision + 1)}::int[]) as c (change_id, hit_id, from_status, revision)`.execute(tx);
  for (const [from, changed] of Map.groupBy(hits, ({ status }) => status)) {
    await countReviews(tx, { orgId, detectionId: first.detectionId }, from, -changed.length);
    await countReviews(tx, { orgId, detectionId: first.detectionId }, to, changed.length);
  }
}

async function countReviews(
  tx: Tx,
  { orgId, detectionId }: { orgId: OrgId; detectionId: string },
  status: HitStatus,
  by: number,
): Promise<void> {
  const name = reviewColumns[status];
  if (name === undefined) return;
  const column = sql.ref(name);
  await sql`
    insert into hit_reviews as r (organization_id, detection_id, ${column}) values (${orgId}, ${detectionId}, greatest(${by}, 0))
    on conflict (organization_id, detection_id) do update set ${column} = greatest(r.${column} + ${by}, 0)`.execute(tx);
}

export type StatusChangeRow = {
  at: Date;
  keyId: string | null;
  actor: string | null;
  personId: string | null;
  from: HitStatus;
  to: HitStatus;
  reason: string | null;
};

/** Lists the status changes of a hit, latest first. */
export function listStatusChanges(tx: Tx, orgId: OrgId, hitId: string, limit: number): Promise<StatusChangeRow[]> {
  return queryRows<StatusChangeRow>(tx)`
      select at, key_id as "keyId", ${currentActor} as actor, person_id as "personId", from_status as "from", to_status as "to", reason from hit_changes e
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

/** A change of the status of a hit. `steps` is by how much it raised `changed_revision`. */
export type RevisionRow = StatusChangeRow & { hitId: string; entity: string; revision: number | null; steps: number };

/** Lists the latest status changes of hits with their revisions, latest first. */
export function listRevisions(tx: Tx, orgId: OrgId, hitIds: readonly string[], limit: number): Promise<RevisionRow[]> {
  return queryRows<RevisionRow>(tx)`
      select e.hit_id as "hitId", h.entity, e.at, e.key_id as "keyId", ${currentActor} as actor, e.person_id as "personId", e.from_status as "from", e.to_status as "to",
        e.reason, e.revision,
        coalesce(e.revision - coalesce(lag(e.revision) over (partition by e.hit_id order by e.at, e.id), 1), 0) as steps
      from hit_changes e join hits h on h.organization_id = e.organization_id and h.id = e.hit_id
      where e.organization_id = ${orgId} and e.hit_id = any(${hitIds}::uuid[]) order by e.at desc, e.id desc limit ${limit}`;
}
