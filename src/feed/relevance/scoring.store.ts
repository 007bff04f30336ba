import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isVisible } from '../items/items.store.ts';
import type { ProfileRow } from './profile.store.ts';

/** A pool that an organization's relevance has not been looked through to its end, for a version of its profile. */
export type Due = { orgId: OrgId; version: number; poolId: string; poolSeq: number; seq: number; itemId: string };

const firstId = '00000000-0000-0000-0000-000000000000';

/** One organization with something to score: its newest profile first, then the one that its lists answer by. */
export function findDueAcrossOrgs(db: Db): Promise<{ orgId: OrgId } | undefined> {
  return acrossOrgs(db, (tx) =>
    row(
      tx,
      sql<{ orgId: OrgId }>`
        select p.organization_id as "orgId" from feed_profiles p
        where p.built_version < p.version or exists (
          select from feed_pools pool left join feed_relevance_cursors c
            on c.organization_id = p.organization_id and c.version = p.built_version and c.pool_id = pool.id
          where (pool.kind = 'public' or pool.organization_id = p.organization_id or (pool.kind = 'assigned' and p.organization_id = any(pool.assigned_to)))
            and (c.seq is null or c.seq < pool.seq) and exists (
              select from feed_relevance_builds b where b.organization_id = p.organization_id and b.version = p.built_version and b.has_profile))
        order by random() limit 1`,
    ),
  );
}

/** The profile, held for this transaction; undefined where another worker is at it or none is set. */
export function claimProfile(tx: Tx, orgId: OrgId): Promise<ProfileRow | undefined> {
  return row(
    tx,
    sql<ProfileRow>`
      select profile, version, built_version, updated_at from feed_profiles where organization_id = ${orgId} for update skip locked`,
  );
}

/** A pool of the organization's view that has items behind the cursor of a version. */
export function findDuePool(tx: Tx, orgId: OrgId, version: number): Promise<Due | undefined> {
  return row(
    tx,
    sql<Due>`
      select ${orgId}::uuid as "orgId", ${version}::int as version, pool.id as "poolId", pool.seq as "poolSeq", coalesce(c.seq, 0) as seq,
        coalesce(c.item_id, ${firstId}::uuid) as "itemId"
      from (select id, seq from feed_pools where ${isVisible}) pool left join feed_relevance_cursors c
        on c.organization_id = ${orgId} and c.version = ${version} and c.pool_id = pool.id
      where (c.seq is null or c.seq < pool.seq) limit 1`,
  );
}

export type ScoredItem = { id: string; seq: number; added_to_feed_at: Date; doc: string };

/** The next items behind a cursor, in the order of their last change. */
export function listBehind(tx: Tx, due: Due, limit: number): Promise<ScoredItem[]> {
  return rows(
    tx,
    sql<ScoredItem>`
      select id, seq, added_to_feed_at, doc from items
      where pool_id = ${due.poolId} and seq <= ${due.poolSeq} and seq >= ${due.seq} and (seq, id) > (${due.seq}, ${due.itemId}::uuid)
      order by seq, id limit ${limit}`,
  );
}

export async function moveCursor(tx: Tx, due: Due, to: { seq: number; itemId: string }): Promise<void> {
  await sql`
    insert into feed_relevance_cursors (organization_id, version, pool_id, seq, item_id)
    values (${due.orgId}, ${due.version}, ${due.poolId}, ${to.seq}, ${to.itemId})
    on conflict (organization_id, version, pool_id) do update set seq = excluded.seq, item_id = excluded.item_id`.execute(
    tx,
  );
}

export type RelevanceRow = { itemId: string; addedToFeedAt: Date; score: number; reasons: string };

/** What of these items is relevant now, as stored. */
export function listStored(
  tx: Tx,
  due: Due,
  itemIds: string[],
): Promise<{ itemId: string; score: number; reasons: string }[]> {
  return rows(
    tx,
    sql<{ itemId: string; score: number; reasons: string }>`
      select item_id as "itemId", score, reasons from feed_relevance
      where organization_id = ${due.orgId} and version = ${due.version} and item_id = any(${itemIds}::uuid[]) and seq_until = ${openEnd}`,
  );
}

const cleanedMax = 5_000;
const openEnd = '9223372036854775807';

/** Ends what is stored of `ended` and stores `begun`, both at `seq` of the organization's own pool. */
export async function replaceRelevance(
  tx: Tx,
  due: Due,
  given: { ended: string[]; begun: RelevanceRow[]; seq: number; now: Date },
): Promise<void> {
  const { ended, begun, seq, now } = given;
  const ofEnded = sql`organization_id = ${due.orgId} and version = ${due.version} and item_id = any(${ended}::uuid[])`;
  await sql`delete from feed_relevance where ${ofEnded} and seq_from = ${seq}`.execute(tx);
  await sql`update feed_relevance set seq_until = ${seq}, ended_at = clock_timestamp() where ${ofEnded} and seq_until = ${openEnd}`.execute(
    tx,
  );
  const column = <K extends keyof RelevanceRow>(name: K): RelevanceRow[K][] => begun.map((one) => one[name]);
  await sql`
    insert into feed_relevance (organization_id, version, item_id, added_to_feed_at, score, reasons, judged_at, seq_from)
    select ${due.orgId}, ${due.version}, n.item_id, n.added, n.score, n.reasons, ${now}, ${seq}
    from unnest(${column('itemId')}::uuid[], ${column('addedToFeedAt').map((at) => at.toISOString())}::timestamptz[],
      ${column('score')}::numeric[], ${column('reasons')}::text[]) as n (item_id, added, score, reasons)`.execute(tx);
}

/** From `seq` on the organization's lists answer by this version. */
export async function finishBuild(
  tx: Tx,
  orgId: OrgId,
  given: { version: number; hasProfile: boolean; seq: number; now: Date },
): Promise<void> {
  const { version, hasProfile, seq, now } = given;
  await sql`
    insert into feed_relevance_builds (organization_id, version, has_profile, seq_from, built_at)
    values (${orgId}, ${version}, ${hasProfile}, ${seq}, ${now})`.execute(tx);
  await sql`update feed_profiles set built_version = ${version} where organization_id = ${orgId}`.execute(tx);
  await sql`delete from feed_relevance_cursors where organization_id = ${orgId} and version < ${version}`.execute(tx);
  await sql`
    update feed_relevance set ended_at = clock_timestamp()
    where organization_id = ${orgId} and version < ${version} and ended_at is null`.execute(tx);
}

/** Forgets what no `asOf` reaches any more; answers whether there may be more. */
export function cleanRelevanceAcrossOrgs(db: Db): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const gone = await sql`
      delete from feed_relevance where ctid = any(array(
        select ctid from feed_relevance where ended_at < clock_timestamp() - interval '3 hours' limit ${cleanedMax}))`.execute(
      tx,
    );
    return Number(gone.numAffectedRows ?? 0) === cleanedMax;
  });
}
