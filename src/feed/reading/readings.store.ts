import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { visiblePoolIds } from '../items/snapshot/query.sql.ts';

/** The alias that reads items which others see as well. */
export const sharedAlias = 'reader';

export type ReadingRow = {
  organization_id: OrgId;
  item_id: string;
  pool_id: string;
  alias: string;
  text_hash: string;
  state: 'waiting' | 'done' | 'failed' | 'withheld';
  attempts: number;
  error: string | null;
  model: string | null;
  claims: string | null;
  dropped: string | null;
  unread_parts: number;
  tokens: number;
  cost_usd: number;
  read_at: Date | null;
};

const columns = sql`r.organization_id, r.item_id, r.pool_id, r.alias, r.text_hash, r.state, r.attempts, r.error, r.model, r.claims, r.dropped,
  r.unread_parts, r.tokens, r.cost_usd, r.read_at`;

/** A pool with changes that were not looked at yet, and up to where they were. */
export type UnqueuedPool = { id: string; seq: number; after_seq: number; after_id: string };

/** Returns a pool with items to queue: one of `aliases` reads it. A new pool begins with the items added since `since`. */
export function findUnqueuedPoolAcrossOrgs(
  tx: Tx,
  aliases: readonly string[],
  since: Date,
): Promise<UnqueuedPool | undefined> {
  const alias = sql`case when p.kind = 'private' then f.alias else ${sharedAlias} end`;
  return queryRow<UnqueuedPool>(tx)`
    select p.id, p.seq, coalesce(c.seq, (select min(i.seq) - 1 from items i where i.pool_id = p.id and i.added_to_feed_at > ${since}), p.seq) as after_seq,
      coalesce(c.item_id, ${lastId}::uuid) as after_id
    from feed_pools p left join reading_cursors c on c.pool_id = p.id left join feed_readers f on f.organization_id = p.organization_id
    where p.seq > coalesce(c.seq, -1) and ${alias} = any(${aliases as string[]}::text[])
    order by p.kind = 'private', p.id limit 1`;
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Queues the prose items of the next changes of a pool, and removes the readings of retracted ones. A text that was read already is only queued to
 * complete its item again if the item has a new version.
 */
export async function queuePoolAcrossOrgs(
  tx: Tx,
  pool: UnqueuedPool,
  { kinds, since, limit }: { kinds: readonly string[]; since: Date; limit: number },
): Promise<void> {
  const changed = await queryRows<{ id: string; seq: number }>(tx)`
    select id, seq from items where pool_id = ${pool.id} and (seq, id) > (${pool.after_seq}, ${pool.after_id}::uuid) order by seq, id limit ${limit}`;
  const ids = changed.map(({ id }) => id);
  await sql`
    delete from item_readings r using items i where i.id = r.item_id and r.item_id = any(${ids}::uuid[])
      and (i.status = 'retracted' or i.pool_id <> r.pool_id)`.execute(tx);
  await sql`
    insert into item_readings as r (organization_id, item_id, pool_id, alias, text_hash, state, next_at)
    select i.organization_id, i.id, i.pool_id, case when p.kind = 'private' then f.alias else ${sharedAlias} end,
      encode(sha256(convert_to(v.stored_text, 'UTF8')), 'hex'), 'waiting', clock_timestamp()
    from items i join feed_pools p on p.id = i.pool_id join item_versions v on v.item_id = i.id and v.version = i.version
      left join feed_sources s on s.id = i.source_id left join feed_readers f on f.organization_id = p.organization_id
    where i.id = any(${ids}::uuid[]) and i.status <> 'retracted' and i.last_updated > ${since} and v.stored_text <> ''
      and (i.source_id is null or s.kind = any(${kinds as string[]}::text[])) and (p.kind <> 'private' or f.alias is not null)
    on conflict (item_id) do update set
      alias = excluded.alias, text_hash = excluded.text_hash, state = 'waiting', attempts = 0, next_at = excluded.next_at, error = null,
      claims = case when r.text_hash = excluded.text_hash and r.alias = excluded.alias then r.claims end
    where r.text_hash <> excluded.text_hash or r.alias <> excluded.alias
      or (r.state = 'done' and r.applied_version is distinct from (select version from items
        where id = excluded.item_id))`.execute(tx);
  const last = changed.at(-1);
  const next = changed.length < limit ? { seq: Math.max(pool.seq, last?.seq ?? 0), id: lastId } : last!;
  await sql`
    insert into reading_cursors (pool_id, seq, item_id) values (${pool.id}, ${next.seq}, ${next.id})
    on conflict (pool_id) do update set seq = excluded.seq, item_id = excluded.item_id`.execute(tx);
}

/**
 * Claims the newest waiting reading of the next organization after `after` in the order of their ids, so that organizations take turns. The lease
 * begins with a minute.
 */
export function claimReadingAcrossOrgs(
  tx: Tx,
  { worker, after, aliases }: { worker: string; after: string; aliases: readonly string[] },
): Promise<ReadingRow | undefined> {
  return queryRow<ReadingRow>(tx)`
    update item_readings r set worker = ${worker}, lease_until = clock_timestamp() + interval '1 minute', attempts = r.attempts + 1
    where r.item_id = (
      select w.item_id from (
        select distinct organization_id from item_readings where state = 'waiting' and next_at <= clock_timestamp()
      ) o cross join lateral (
        select item_id from item_readings
        where organization_id = o.organization_id and state = 'waiting' and next_at <= clock_timestamp() and alias = any(${aliases as string[]}::text[])
          and (lease_until is null or lease_until < clock_timestamp())
        order by next_at desc, item_id desc limit 1 for update skip locked
      ) w order by o.organization_id <= ${after}::uuid, o.organization_id limit 1)
    returning ${columns}`;
}

/** Extends the lease of a claimed reading. Returns false if the claim was lost. */
export async function renewReadingAcrossOrgs(
  tx: Tx,
  itemId: string,
  worker: string,
  seconds: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update item_readings set lease_until = clock_timestamp() + ${`${seconds} seconds`}::interval
      where item_id = ${itemId} and worker = ${worker}`.execute(tx);
  return Number(numAffectedRows ?? 0) > 0;
}

/** Returns what the same model read in the same text of another item of the organization. */
export function findSameReadingAcrossOrgs(
  tx: Tx,
  { organization_id: orgId, text_hash: hash }: Pick<ReadingRow, 'organization_id' | 'text_hash'>,
  model: string,
): Promise<Pick<ReadingRow, 'claims' | 'dropped' | 'unread_parts'> | undefined> {
  return queryRow<Pick<ReadingRow, 'claims' | 'dropped' | 'unread_parts'>>(tx)`
    select claims, dropped, unread_parts from item_readings
    where organization_id = ${orgId} and text_hash = ${hash} and state = 'done' and model = ${model} and claims is not null limit 1`;
}

/** What a model read, and what it cost. */
export type ReadingResult = {
  model: string;
  claims: string;
  dropped: string;
  unreadParts: number;
  tokens: number;
  costUsd: number;
};

/** Stores the claims of a claimed reading, before they are applied. Returns false if the claim was lost. */
export async function storeClaimsAcrossOrgs(
  tx: Tx,
  itemId: string,
  worker: string,
  { model, claims, dropped, unreadParts, tokens, costUsd }: ReadingResult,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update item_readings set model = ${model}, claims = ${claims}, dropped = ${dropped}, unread_parts = ${unreadParts},
      tokens = tokens + ${tokens}, cost_usd = cost_usd + ${costUsd}, read_at = clock_timestamp()
    where item_id = ${itemId} and worker = ${worker}`.execute(tx);
  return Number(numAffectedRows ?? 0) > 0;
}

/** How a claimed reading ends. With `retryAfterSeconds` it waits again, as all of the organization with the same alias do. */
type ReadingEnd = {
  state: ReadingRow['state'];
  error?: string;
  appliedVersion?: number;
  attempts?: number;
  retryAfterSeconds?: number;
};

export async function endReadingAcrossOrgs(
  tx: Tx,
  { organization_id: orgId, alias, item_id: itemId, attempts }: ReadingRow,
  worker: string,
  end: ReadingEnd,
): Promise<void> {
  const after = `${end.retryAfterSeconds ?? 0} seconds`;
  await sql`
    update item_readings set state = ${end.state}, error = ${end.error ?? null}, attempts = ${end.attempts ?? attempts}, worker = null, lease_until = null,
      applied_version = coalesce(${end.appliedVersion ?? null}::int, applied_version), next_at = clock_timestamp() + ${after}::interval
    where item_id = ${itemId} and worker = ${worker}`.execute(tx);
  if (end.retryAfterSeconds !== undefined)
    await sql`
      update item_readings set next_at = clock_timestamp() + ${after}::interval
      where organization_id = ${orgId} and alias = ${alias} and state = 'waiting'
      and next_at < clock_timestamp() + ${after}::interval`.execute(tx);
}

/** Returns the reading of a visible item. */
export function findReading(tx: Tx, itemId: string): Promise<ReadingRow | undefined> {
  return queryRow<ReadingRow>(tx)`
    select ${columns} from item_readings r where r.item_id = ${itemId} and r.pool_id in ${visiblePoolIds}`;
}

export async function findReaderAlias(tx: Tx, orgId: OrgId): Promise<string | null> {
  const row = await queryRow<{ alias: string | null }>(tx)`
    select alias from feed_readers where organization_id = ${orgId}`;
  return row?.alias ?? null;
}

/** Sets the alias that reads the private items of an organization. The items of the last days are queued again. */
export async function setReaderAlias(tx: Tx, orgId: OrgId, alias: string | null, now: Date): Promise<void> {
  await sql`
    insert into feed_readers (organization_id, alias, updated_at) values (${orgId}, ${alias}, ${now})
    on conflict (organization_id) do update set alias = excluded.alias, updated_at = excluded.updated_at`.execute(tx);
  await sql`
    delete from reading_cursors c using feed_pools p
      where p.id = c.pool_id and p.organization_id = ${orgId} and p.kind = 'private'`.execute(tx);
  if (alias === null)
    await sql`
      delete from item_readings r using feed_pools p
      where p.id = r.pool_id and p.organization_id = ${orgId} and p.kind = 'private'
      and r.state = 'waiting'`.execute(tx);
}
