import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import { nilId } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isPoolVisible } from '../items/snapshot/query.sql.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';

export type ProfileRow = { profile: string; version: number; built_version: number; updated_at: Date };

export const findProfile = (tx: Tx, orgId: OrgId): Promise<ProfileRow | undefined> =>
  queryRow(tx, selectProfile(orgId));

/** Finds the profile and serializes changes to it until the transaction ends, also if it does not exist yet. */
export async function lockProfile(tx: Tx, orgId: OrgId): Promise<ProfileRow | undefined> {
  await lockName(tx, `profile ${orgId}`);
  return queryRow(tx, sql<ProfileRow>`${selectProfile(orgId)} for no key update`);
}

const selectProfile = (orgId: OrgId) =>
  sql<ProfileRow>`select profile, version, built_version, updated_at from feed_profiles where organization_id = ${orgId}`;

/** Stores the next version of a profile. `updated_at` always increases. */
export async function upsertProfile(
  tx: Tx,
  orgId: OrgId,
  { profile, hasProfile, now }: { profile: string; hasProfile: boolean; now: Date },
): Promise<ProfileRow> {
  const stored = await queryRow<ProfileRow>(tx)`
      insert into feed_profiles (organization_id, profile, has_profile, version, updated_at)
      values (${orgId}, ${profile}, ${hasProfile}, 1, ${now})
      on conflict (organization_id) do update set profile = excluded.profile, has_profile = excluded.has_profile, version = feed_profiles.version + 1,
        updated_at = greatest(excluded.updated_at, feed_profiles.updated_at + interval '1 millisecond')
      returning profile, version, built_version, updated_at`;
  return stored!;
}

/** Marks the digest of a week as delivered. Returns false if it, or one of a later week, was. */
export async function markDigestDelivered(tx: Tx, orgId: OrgId, week: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update feed_profiles set digest_week = ${week}
      where organization_id = ${orgId} and coalesce(digest_week, '') < ${week}`.execute(tx);
  return Number(numAffectedRows ?? 0) > 0;
}

/** How far a pool is scored for a version of an organization's profile: up to `(seq, itemId)` of `poolSeq`. */
export type ScoringPosition = {
  orgId: OrgId;
  version: number;
  poolId: string;
  poolSeq: number;
  seq: number;
  itemId: string;
};

/** Finds an organization that has items to score: under a new profile version, or new items under the version in force. */
export function findDueOrgAcrossOrgs(db: Db): Promise<{ orgId: OrgId } | undefined> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRow<{ orgId: OrgId }>(tx)`
        select p.organization_id as "orgId" from feed_profiles p
        where p.built_version < p.version or exists (
          select from feed_pools pool left join feed_relevance_cursors c
            on c.organization_id = p.organization_id and c.version = p.built_version and c.pool_id = pool.id
          where (pool.kind = 'public' or pool.organization_id = p.organization_id or (pool.kind = 'assigned' and p.organization_id = any(pool.assigned_to)))
            and (c.seq is null or c.seq < pool.seq) and exists (
              select from feed_relevance_builds b where b.organization_id = p.organization_id and b.version = p.built_version and b.has_profile))
        order by random() limit 1`,
  );
}

/** Locks the profile for this transaction. Returns undefined if another worker has locked it or the organization has none. */
export function lockProfileIfFree(tx: Tx, orgId: OrgId): Promise<ProfileRow | undefined> {
  return queryRow<ProfileRow>(tx)`
      select profile, version, built_version, updated_at from feed_profiles where organization_id = ${orgId} for no key update skip locked`;
}

/** Finds a visible pool that has items after the cursor of a profile version. */
export function findNextPool(tx: Tx, orgId: OrgId, version: number): Promise<ScoringPosition | undefined> {
  return queryRow<ScoringPosition>(tx)`
      select ${orgId}::uuid as "orgId", ${version}::int as version, pool.id as "poolId", pool.seq as "poolSeq", coalesce(c.seq, 0) as seq,
        coalesce(c.item_id, ${nilId}::uuid) as "itemId"
      from (select id, seq from feed_pools where ${isPoolVisible}) pool left join feed_relevance_cursors c
        on c.organization_id = ${orgId} and c.version = ${version} and c.pool_id = pool.id
      where (c.seq is null or c.seq < pool.seq) limit 1`;
}

export type ScoredItem = { id: string; seq: number; added_to_feed_at: Date; doc: string };

/** Returns the next items after a position, in the order of their last change. */
export function listItemsAfter(tx: Tx, position: ScoringPosition, limit: number): Promise<ScoredItem[]> {
  return queryRows<ScoredItem>(tx)`
      select id, seq, added_to_feed_at, doc from items
      where pool_id = ${position.poolId} and seq <= ${position.poolSeq} and seq >= ${position.seq} and (seq, id) > (${position.seq}, ${position.itemId}::uuid)
      order by seq, id limit ${limit}`;
}

export async function advanceCursor(
  tx: Tx,
  position: ScoringPosition,
  to: { seq: number; itemId: string },
): Promise<void> {
  await sql`
    insert into feed_relevance_cursors (organization_id, version, pool_id, seq, item_id)
    values (${position.orgId}, ${position.version}, ${position.poolId}, ${to.seq}, ${to.itemId})
    on conflict (organization_id, version, pool_id) do update
      set seq = excluded.seq, item_id = excluded.item_id`.execute(tx);
}

const openEnd = '9223372036854775807';

/** `requirements` are the folded names of those that the item meets. */
export type RelevanceRow = {
  itemId: string;
  addedToFeedAt: Date;
  score: number;
  reasons: string;
  requirements: string[];
};

/** Returns the stored rows of those items that are relevant now. */
export function listStoredRelevance(
  tx: Tx,
  position: ScoringPosition,
  itemIds: string[],
): Promise<{ itemId: string; score: number; reasons: string }[]> {
  return queryRows<{ itemId: string; score: number; reasons: string }>(tx)`
      select item_id as "itemId", score, reasons from feed_relevance
      where organization_id = ${position.orgId} and version = ${position.version} and item_id = any(${itemIds}::uuid[]) and seq_until = ${openEnd}`;
}

/** Ends the stored rows of the items in `ended` and inserts `begun`, both at `seq` of the private pool. */
export async function replaceRelevance(
  tx: Tx,
  position: ScoringPosition,
  { ended, begun, seq, now }: { ended: string[]; begun: RelevanceRow[]; seq: number; now: Date },
): Promise<void> {
  const isEnded = sql`organization_id = ${position.orgId} and version = ${position.version} and item_id = any(${ended}::uuid[])`;
  await sql`delete from feed_relevance where ${isEnded} and seq_from = ${seq}`.execute(tx);
  await sql`
    update feed_relevance set seq_until = ${seq}, ended_at = clock_timestamp()
      where ${isEnded} and seq_until = ${openEnd}`.execute(tx);
  const column = <K extends keyof RelevanceRow>(name: K): RelevanceRow[K][] => begun.map((one) => one[name]);
  await sql`
    insert into feed_relevance (organization_id, version, pool_id, item_id, added_to_feed_at, score, reasons, requirements, judged_at, seq_from)
    select ${position.orgId}, ${position.version}, ${position.poolId}, n.item_id, n.added, n.score, n.reasons,
      array(select json_array_elements_text(n.requirements::json)), ${now}, ${seq}
    from unnest(${column('itemId')}::uuid[], ${column('addedToFeedAt').map((at) => at.toISOString())}::timestamptz[],
      ${column('score')}::numeric[], ${column('reasons')}::text[], ${column('requirements').map((names) => JSON.stringify(names))}::text[])
      as n (item_id, added, score, reasons, requirements)`.execute(tx);
}

/** Puts a profile version in force from `seq` on, and ends the rows of earlier versions. */
export async function finishBuild(
  tx: Tx,
  orgId: OrgId,
  { version, hasProfile, seq, now }: { version: number; hasProfile: boolean; seq: number; now: Date },
): Promise<void> {
  await sql`
    insert into feed_relevance_builds (organization_id, version, has_profile, seq_from, built_at)
    values (${orgId}, ${version}, ${hasProfile}, ${seq}, ${now})`.execute(tx);
  await sql`update feed_profiles set built_version = ${version} where organization_id = ${orgId}`.execute(tx);
  await sql`delete from feed_relevance_cursors where organization_id = ${orgId} and version < ${version}`.execute(tx);
  await sql`
    update feed_relevance set ended_at = clock_timestamp()
    where organization_id = ${orgId} and version < ${version} and ended_at is null`.execute(tx);
}

const cleanBatchMax = 5_000;

/** Deletes one batch of rows that no valid snapshot token refers to. Returns whether there may be more. */
export function cleanRelevanceAcrossOrgs(db: Db): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const deleted = await sql`
      delete from feed_relevance where ctid = any(array(
        select ctid from feed_relevance
          where ended_at < clock_timestamp() - interval '3 hours' limit ${cleanBatchMax}))`.execute(tx);
    return Number(deleted.numAffectedRows ?? 0) === cleanBatchMax;
  });
}
