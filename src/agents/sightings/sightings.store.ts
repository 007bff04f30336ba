import { sql } from 'kysely';
import type { RemoteSiemType } from '../../detection/siem/connectors/registry.ts';
import { isPoolVisible, visiblePoolIds } from '../../feed/items/snapshot/query.sql.ts';
import { acrossOrgs, type Db, queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { deleteRowsWithValue } from '../../platform/db/erasure.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { type SightedRow, type Sighting, sightingEventId } from './find-sightings.ts';
import { listWithdrawnEvents } from '../../detection/runs/judging/withdrawn-events.store.ts';
import type { IndicatorForms } from './observed-values.ts';
import type { ItemSightings, SweepList } from './sightings.schema.ts';

/**
 * The progress of the search in one SIEM. `queries` is the number of queries sent in the hour that starts at `hour`. `isEmpty` is true for an
 * embedded log store without any dataset.
 */
export type Sweep = {
  orgId: OrgId;
  connectionId: string;
  kind: RemoteSiemType | 'local';
  cursor: string | null;
  hour: Date;
  queries: number;
  failures: number;
  isEmpty: boolean;
};

/** Inserts a sweep for each connection and embedded log store that has none. Deletes the sweeps of deleted connections. */
export async function syncSweepsAcrossOrgs(db: Db): Promise<void> {
  await acrossOrgs(db, async (tx) => {
    await sql`
      insert into feed_sweeps (organization_id, connection_id)
      select id, id from organizations union all select organization_id, id
        from connections on conflict do nothing`.execute(tx);
    await sql`
      delete from feed_sweeps s where connection_id <> organization_id and not exists (
        select from connections c where c.organization_id = s.organization_id and c.id = s.connection_id)`.execute(tx);
  });
}

/** Claims the sweep that has been due longest for ten minutes. Skips paused connections. */
export function claimSweepAcrossOrgs(db: Db): Promise<Sweep | undefined> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRow<Sweep>(tx)`
        update feed_sweeps s set due_at = clock_timestamp() + interval '10 minutes'
        where (organization_id, connection_id) = (
          select d.organization_id, d.connection_id from feed_sweeps d where d.due_at <= clock_timestamp() and not exists (
            select from connection_pauses p where p.organization_id = d.organization_id and p.connection_id = d.connection_id)
          order by d.due_at limit 1 for update of d skip locked)
        returning organization_id as "orgId", connection_id as "connectionId", cursor, hour, queries, failures,
          coalesce((select c.kind from connections c where c.organization_id = s.organization_id and c.id = s.connection_id), 'local') as kind,
          s.connection_id = s.organization_id and not exists (
            select from datasets l where l.organization_id = s.organization_id) as "isEmpty"`,
  );
}

type SweepProgress = {
  cursor: string | null;
  waitMs: number;
  hour: Date;
  queries: number;
  failures: number;
  error: string | null;
};

export async function finishSweep(tx: Tx, { orgId, connectionId }: Sweep, progress: SweepProgress): Promise<void> {
  await sql`
    update feed_sweeps set cursor = ${progress.cursor}, hour = ${progress.hour}, queries = ${progress.queries}, failures = ${progress.failures},
      last_error = ${progress.error}, last_at = clock_timestamp(), due_at = clock_timestamp() + ${`${progress.waitMs} milliseconds`}::interval
    where organization_id = ${orgId} and connection_id = ${connectionId}`.execute(tx);
}

export type PoolPosition = { id: string; seq: number };
export const listVisiblePools = (tx: Tx): Promise<PoolPosition[]> =>
  queryRows<PoolPosition>(tx)`select id, seq from feed_pools where ${isPoolVisible} order by id`;

type SightingColumn = 'itemId' | 'dataset' | 'type' | 'value' | 'match' | 'observed' | 'eventKey' | 'event';

/** Inserts sightings that are not stored yet. Returns the IDs of the items with new sightings. */
export async function insertSightings(
  tx: Tx,
  sweep: Pick<Sweep, 'orgId' | 'connectionId'>,
  sightings: Sighting[],
  now: Date,
): Promise<string[]> {
  const column = (name: SightingColumn): string[] => sightings.map((sighting) => sighting[name]);
  const inserted = await queryRows<{ item_id: string }>(tx)`
      insert into feed_sightings (organization_id, connection_id, found_at, item_id, dataset, type, value, match, observed, event_key, event)
      select ${sweep.orgId}::uuid, ${sweep.connectionId}::uuid, ${now}::timestamptz, * from unnest(${column('itemId')}::uuid[], ${column('dataset')}::text[],
        ${column('type')}::text[], ${column('value')}::text[], ${column('match')}::text[], ${column('observed')}::text[], ${column('eventKey')}::text[], ${column('event')}::text[])
      on conflict do nothing returning item_id`;
  return [...new Set(inserted.map(({ item_id }) => item_id))];
}

/** Returns whether the organization has sightings of items or of values. */
export async function hasSightings(
  tx: Tx,
  orgId: OrgId,
  { itemIds, harmless }: { itemIds: string[]; harmless: string[] },
): Promise<boolean> {
  const found = await queryRow(tx)`
    select 1 as one from feed_sightings where organization_id = ${orgId} and (item_id = any(${itemIds}::uuid[])
      or md5(value) = any(array(select md5(h) from unnest(${harmless}::text[]) h))) limit 1`;
  return found !== undefined;
}

/** Returns the places in a list of the sightings that are stored. */
export async function listKnownSightings(
  tx: Tx,
  { orgId, connectionId }: Pick<Sweep, 'orgId' | 'connectionId'>,
  sightings: readonly Sighting[],
): Promise<Set<number>> {
  const column = (name: SightingColumn): string[] => sightings.map((sighting) => sighting[name]);
  const rows = await queryRows<{ place: number }>(tx)`
    select k.place::int from unnest(${column('itemId')}::uuid[], ${column('dataset')}::text[], ${column('value')}::text[],
      ${column('eventKey')}::text[]) with ordinality as k (item_id, dataset, value, event_key, place)
      join feed_sightings s on s.organization_id = ${orgId} and s.item_id = k.item_id and s.connection_id = ${connectionId}
        and s.dataset = k.dataset and s.value = k.value and s.event_key = k.event_key`;
  return new Set(rows.map(({ place }) => place - 1));
}

/**
 * Deletes the sightings of harmless values, and of items all that are of no standing value of the item. Returns the IDs of the items that have none
 * left, and the rows that are no sighting of a value any more.
 */
export async function deleteWithdrawnSightings(
  tx: Tx,
  orgId: OrgId,
  {
    itemIds,
    standing,
    harmless,
  }: { itemIds: string[]; standing: { itemId: string; value: string }[]; harmless: string[] },
): Promise<{ unseenItems: string[]; rows: SightedRow[] }> {
  const deleted = await queryRows<SightedRow & { itemId: string }>(tx)`
    with standing as (
      select * from unnest(${standing.map(({ itemId }) => itemId)}::uuid[], ${standing.map(({ value }) => value)}::text[]) as k (item_id, value)
    )
    delete from feed_sightings s where organization_id = ${orgId} and (
      (item_id = any(${itemIds}::uuid[]) and (item_id, value) not in (select item_id, value from standing))
      or md5(value) = any(array(select md5(h) from unnest(${harmless}::text[]) h)))
    returning item_id as "itemId", connection_id as "connectionId", dataset, value, event_key as "eventKey"`;
  if (deleted.length === 0) return { unseenItems: [], rows: [] };
  const items = [...new Set(deleted.map(({ itemId }) => itemId))];
  const unseen = await queryRows<{ id: string }>(tx)`
    select id from unnest(${items}::uuid[]) as i (id)
    where not exists (select from feed_sightings s where s.organization_id = ${orgId} and s.item_id = i.id)`;
  const left = await queryRows<SightedRow>(tx)`
    select distinct connection_id as "connectionId", dataset, value, event_key as "eventKey" from feed_sightings
    where organization_id = ${orgId} and md5(value) = any(array(select md5(v) from unnest(${[...new Set(deleted.map(({ value }) => value))]}::text[]) v))`;
  const leftIds = new Set(left.map((row) => sightingEventId(row)));
  return { unseenItems: unseen.map(({ id }) => id), rows: deleted.filter((row) => !leftIds.has(sightingEventId(row))) };
}

/** Returns the IDs of the events of sighted rows, which differ from those that were withdrawn. */
export async function listEventIds(tx: Tx, orgId: OrgId, rows: readonly SightedRow[]): Promise<string[]> {
  let ids = rows.map((row) => sightingEventId(row));
  for (let withdrawals = 1; ; withdrawals += 1) {
    const withdrawn = await listWithdrawnEvents(tx, orgId, ids);
    if (withdrawn.size === 0) return ids;
    ids = ids.map((id, index) => (withdrawn.has(id) ? sightingEventId(rows[index]!, withdrawals) : id));
  }
}

type SightingRow = Omit<ItemSightings['sightings'][number], 'foundAt'> & { foundAt: Date };

/** Returns the newest sightings of an item. */
export function listSightings(tx: Tx, orgId: OrgId, itemId: string, limit: number): Promise<SightingRow[]> {
  return queryRows<SightingRow>(tx)`
      select connection_id as "connectionId", dataset, type, value, match, observed, event, found_at as "foundAt" from feed_sightings
      where organization_id = ${orgId} and item_id = ${itemId} order by found_at desc, event_key limit ${limit}`;
}

type SweepRow = Omit<SweepList['sweeps'][number], 'lastAt'> & { lastAt: Date | null };

export function listSweeps(tx: Tx, orgId: OrgId): Promise<SweepRow[]> {
  return queryRows<SweepRow>(tx)`
      select connection_id as "connectionId", last_at as "lastAt", failures, last_error as "lastError"
      from feed_sweeps where organization_id = ${orgId} order by connection_id limit 1000`;
}

/** Returns whether the transaction's organization can see the item. */
export async function isItemVisible(tx: Tx, id: string): Promise<boolean> {
  const found = await queryRow(tx)`
    select 1 from items where id = ${id} and pool_id in (select id from feed_pools where ${isPoolVisible})`;
  return found !== undefined;
}

/** Deletes sightings whose event or observed value contains a value. */
export async function eraseFromSightings(tx: Tx, orgId: OrgId, value: string): Promise<Record<string, never>> {
  await deleteRowsWithValue(tx, { orgId, table: 'feed_sightings', columns: ['event', 'observed'] }, value);
  return {};
}

/** Returns a text that differs whenever an indicator may have been added or changed for the transaction's organization. */
export async function readFeedVersion(tx: Tx): Promise<string> {
  const found = await queryRow<{ version: string | null }>(tx)`
    select string_agg(id || ':' || seq, ',' order by id) as version from feed_pools where ${isPoolVisible}`;
  return found?.version ?? '';
}

const isOpen = (
  now: Date,
) => sql`t.kind = 'indicator' and t.standing is null and (t.ends_at is null or t.ends_at > ${now})
  and t.pool_id = any(array(${visiblePoolIds}))`;

/** Condition that a term is a URL that begins with `r.start`, which ends with a slash. */
const isBelow = sql`t.value like '%://%' and t.value collate "C" >= r.start and t.value collate "C" < left(r.start, -1) || '0'`;

/** Returns the forms that an active indicator of a visible item has. Statuses of the organization's own and of other items are not considered. */
export async function listKnownForms(tx: Tx, { terms, urlStarts }: IndicatorForms, now: Date): Promise<Set<string>> {
  // One look-up in the index for each form, whatever the planner estimates.
  const rows = await queryRows<{ form: string }>(tx)`
    select f.term as form from unnest(${terms}::text[]) as f (term)
      cross join lateral (select from item_terms t where t.value = f.term and ${isOpen(now)} limit 1) one
    union all
    select r.start from unnest(${urlStarts}::text[]) as r (start)
      cross join lateral (select from item_terms t where ${isBelow} and ${isOpen(now)} order by t.value collate "C" limit 1) one`;
  return new Set(rows.map(({ form }) => form));
}

/** Returns the documents of the visible items after the ID `after` with an active indicator that has one of the forms, in the order of their IDs. */
export async function listItemsWithForms(
  tx: Tx,
  { terms, urlStarts }: IndicatorForms,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<{ id: string; doc: string }[]> {
  return queryRows<{ id: string; doc: string }>(tx)`
    select i.id, i.doc from (
      select one.item_id from unnest(${terms}::text[]) as f (term) cross join lateral (
        select t.item_id from item_terms t where t.value = f.term and ${isOpen(now)} and t.item_id > ${after}
        order by t.item_id limit ${limit}) one
      union
      select one.item_id from unnest(${urlStarts}::text[]) as r (start) cross join lateral (
        select t.item_id from item_terms t where ${isBelow} and ${isOpen(now)} and t.item_id > ${after} order by t.item_id limit ${limit}) one
    ) found join items i on i.id = found.item_id order by i.id limit ${limit}`;
}
