import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db, type Tx } from '../../platform/db/db.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import { isVisible } from '../../feed/items/items.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { RemoteKind } from '../../detection/siem/registry.ts';
import type { Exposure } from './matches.ts';

/**
 * A SIEM that items are to be looked for in. `queries` were asked in the hour that `hour` begins; `isEmpty`: the embedded store, and nothing
 * was ever logged.
 */
export type Sweep = {
  orgId: OrgId;
  connectionId: string;
  kind: RemoteKind | 'local';
  cursor: string | null;
  hour: Date;
  queries: number;
  failures: number;
  isEmpty: boolean;
};

/** Makes a row for each SIEM that has none yet, and takes those away whose connection is gone. */
export async function enrolAcrossOrgs(db: Db): Promise<void> {
  await acrossOrgs(db, async (tx) => {
    await sql`
      insert into feed_sweeps (organization_id, connection_id)
      select id, id from organizations union all select organization_id, id from connections on conflict do nothing`.execute(
      tx,
    );
    await sql`
      delete from feed_sweeps s where connection_id <> organization_id and not exists (
        select from connections c where c.organization_id = s.organization_id and c.id = s.connection_id)`.execute(tx);
  });
}

/** One that is due and not paused, held for ten minutes. */
export function claimAcrossOrgs(db: Db): Promise<Sweep | undefined> {
  return acrossOrgs(db, (tx) =>
    row(
      tx,
      sql<Sweep>`
        update feed_sweeps s set due_at = clock_timestamp() + interval '10 minutes'
        where (organization_id, connection_id) = (
          select d.organization_id, d.connection_id from feed_sweeps d where d.due_at <= clock_timestamp() and not exists (
            select from connection_pauses p where p.organization_id = d.organization_id and p.connection_id = d.connection_id)
          order by d.due_at limit 1 for update of d skip locked)
        returning organization_id as "orgId", connection_id as "connectionId", cursor, hour, queries, failures,
          coalesce((select c.kind from connections c where c.organization_id = s.organization_id and c.id = s.connection_id), 'local') as kind,
          s.connection_id = s.organization_id and not exists (
            select from datasets l where l.organization_id = s.organization_id) as "isEmpty"`,
    ),
  );
}

export type Progress = {
  cursor: string | null;
  waitMs: number;
  hour: Date;
  queries: number;
  failures: number;
  error: string | null;
};

export async function finishSweep(tx: Tx, { orgId, connectionId }: Sweep, next: Progress): Promise<void> {
  await sql`
    update feed_sweeps set cursor = ${next.cursor}, hour = ${next.hour}, queries = ${next.queries}, failures = ${next.failures},
      last_error = ${next.error}, last_at = clock_timestamp(), due_at = clock_timestamp() + ${`${next.waitMs} milliseconds`}::interval
    where organization_id = ${orgId} and connection_id = ${connectionId}`.execute(tx);
}

export type PoolAt = { id: string; seq: number };
export const listPools = (tx: Tx): Promise<PoolAt[]> =>
  rows(tx, sql<PoolAt>`select id, seq from feed_pools where ${isVisible} order by id`);

/** Writes rows that are not there yet; answers the items that have new ones. */
export async function writeExposures(tx: Tx, sweep: Sweep, found: Exposure[], now: Date): Promise<string[]> {
  const column = (name: 'itemId' | 'dataset' | 'type' | 'value' | 'eventKey' | 'event'): string[] =>
    found.map((one) => one[name]);
  const written = await rows(
    tx,
    sql<{ item_id: string }>`
      insert into feed_exposures (organization_id, connection_id, found_at, item_id, dataset, type, value, event_key, event)
      select ${sweep.orgId}::uuid, ${sweep.connectionId}::uuid, ${now}::timestamptz, * from unnest(${column('itemId')}::uuid[], ${column('dataset')}::text[],
        ${column('type')}::text[], ${column('value')}::text[], ${column('eventKey')}::text[], ${column('event')}::text[])
      on conflict do nothing returning item_id`,
  );
  return [...new Set(written.map(({ item_id }) => item_id))];
}

const byModel = sql`coalesce(feed_overrides.relevance_by = 'threat-relevancy', false)`;

/**
 * Marks items as exposed from now on; answers those that were not. What a model said of them is over: the logs know better, and only a person
 * may say otherwise. The organization's pool must be held, and moved afterwards.
 */
export async function markExposed(
  tx: Tx,
  orgId: OrgId,
  marks: { id: string; reasons: RelevanceReason[] }[],
  now: Date,
): Promise<string[]> {
  const marked = await rows(
    tx,
    sql<{ item_id: string }>`
      insert into feed_overrides (organization_id, item_id, exposed_at, relevance_reasons, updated_at)
      select ${orgId}::uuid, n.id, ${now}::timestamptz, n.reasons, ${now}::timestamptz
      from unnest(${marks.map(({ id }) => id)}::uuid[], ${marks.map(({ reasons }) => JSON.stringify(reasons))}::text[]) as n (id, reasons)
      on conflict (organization_id, item_id) do update set exposed_at = excluded.exposed_at, updated_at = excluded.updated_at,
        relevance = case when ${byModel} then null else feed_overrides.relevance end,
        relevance_by = case when ${byModel} then null else feed_overrides.relevance_by end,
        relevance_at = case when ${byModel} then null else feed_overrides.relevance_at end,
        relevance_reasons = case when ${byModel} then excluded.relevance_reasons
          else coalesce(feed_overrides.relevance_reasons, excluded.relevance_reasons) end
        where feed_overrides.exposed_at is null returning item_id`,
  );
  return marked.map(({ item_id }) => item_id);
}

export type ExposureRow = {
  connection_id: string;
  dataset: string;
  type: string;
  value: string;
  event: string;
  found_at: Date;
};

/** The newest rows of an item, up to a limit. */
export function listExposures(tx: Tx, orgId: OrgId, itemId: string, limit: number): Promise<ExposureRow[]> {
  return rows(
    tx,
    sql<ExposureRow>`
      select connection_id, dataset, type, value, event, found_at from feed_exposures
      where organization_id = ${orgId} and item_id = ${itemId} order by found_at desc, event_key limit ${limit}`,
  );
}

export type SweepRow = { connection_id: string; last_at: Date | null; last_error: string | null; failures: number };

export function listSweeps(tx: Tx, orgId: OrgId): Promise<SweepRow[]> {
  return rows(
    tx,
    sql<SweepRow>`
      select connection_id, last_at, last_error, failures from feed_sweeps where organization_id = ${orgId} order by connection_id limit 1000`,
  );
}

/** Whether the organization of the transaction sees the item. */
export async function seesItem(tx: Tx, id: string): Promise<boolean> {
  const found = await row(
    tx,
    sql`select 1 from items where id = ${id} and pool_id in (select id from feed_pools where ${isVisible})`,
  );
  return found !== undefined;
}
