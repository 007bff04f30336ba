import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db, type Tx } from '../../db/db.ts';
import type { OrgId } from '../../lib/org-id.ts';
import type { PageRequest } from '../../lib/page-request.ts';
import type { Delivery, OutputKind } from '../outputs.schema.ts';
import { afterMark } from '../outputs.store.ts';

/** A try that this worker holds until its lease ends. `tries` counts it. */
export type Try = {
  organization_id: OrgId;
  id: string;
  output_id: string;
  kind: OutputKind;
  sealed: Buffer;
  event_id: string;
  event_type: string;
  tries: number;
  tries_max: number;
  body: string | null;
};

const leaseMs = 60_000;
/** Tries of one destination under way at the same time in one process; one that keeps failing has one. */
const perOutputMax = 4;
const failingFrom = 3;

/**
 * Claims due deliveries, at most `limit`, not more than a few per destination beside those in `underWay` (by output). A claimed one is due
 * again when its lease ends, so a worker that dies loses nothing and another repeats the try.
 */
export function claimTriesAcrossOrgs(db: Db, limit: number, underWay: ReadonlyMap<string, number>): Promise<Try[]> {
  return acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<Try>`
        with busy as (
          select * from unnest(${[...underWay.keys()]}::uuid[], ${[...underWay.values()]}::int[]) as b (output_id, n)
        ), due as (
          select d.organization_id, d.id, o.kind, o.sealed
          from outputs o left join busy b on b.output_id = o.id
          cross join lateral (
            select organization_id, id, next_try_at from deliveries
            where organization_id = o.organization_id and output_id = o.id and state = 'pending' and next_try_at <= clock_timestamp()
            order by next_try_at
            limit greatest(0, case when o.failures >= ${failingFrom}::int then 1 else ${perOutputMax}::int end - coalesce(b.n, 0))
            for update skip locked
          ) d
          where o.enabled order by d.next_try_at limit ${limit}
        ), claimed as (
          update deliveries d set tries = d.tries + 1, last_try_at = clock_timestamp(),
            next_try_at = clock_timestamp() + ${`${leaseMs} milliseconds`}::interval
          from due where d.organization_id = due.organization_id and d.id = due.id
          returning d.*, due.kind, due.sealed
        )
        select c.organization_id, c.id, c.output_id, c.kind, c.sealed, c.event_id, c.event_type, c.tries, c.tries_max, e.body
        from claimed c left join outbox e on e.at = c.event_at and e.id = c.event_id`,
    ),
  );
}

export type TryEnd = {
  state: Delivery['state'];
  /** Of a pending one: how long to wait, on the database's clock. */
  pauseMs: number | null;
  status: number | null;
  error: string | null;
  ms: number;
  /** false: we stopped it ourselves, and it counts neither as a try nor against the destination. */
  counted: boolean;
  /** The destination is gone for good: it is switched off for this reason. */
  disable: string | null;
};

/** Writes how a try ended. False: the delivery was taken over meanwhile, or is gone with its destination; nothing is written then. */
export async function finishTry(tx: Tx, held: Try, end: TryEnd): Promise<boolean> {
  const nextTryAt =
    end.pauseMs === null ? sql`null` : sql`clock_timestamp() + ${`${end.pauseMs} milliseconds`}::interval`;
  const done = await row(
    tx,
    sql`
      update deliveries set state = ${end.state}, tries = tries - ${end.counted ? 0 : 1}::int, next_try_at = ${nextTryAt}, last_status = ${end.status}, last_error = ${end.error},
        last_ms = ${end.ms}
      where organization_id = ${held.organization_id} and id = ${held.id} and tries = ${held.tries} and state = 'pending' returning 1`,
  );
  if (!done) return false;
  if (!end.counted) return true;
  const isGood = end.state === 'delivered';
  await sql`
    update outputs set failures = ${isGood ? sql`0` : sql`failures + 1`},
      enabled = enabled and ${end.disable === null}, disabled_reason = coalesce(${end.disable}, disabled_reason),
      updated_at = case when ${end.disable === null} then updated_at else greatest(clock_timestamp(), updated_at + interval '1 millisecond') end
    where organization_id = ${held.organization_id} and id = ${held.output_id}
      and (failures > 0 or not ${isGood} or ${end.disable !== null})`.execute(tx);
  return true;
}

export type DeliveryRow = {
  id: string;
  output_id: string;
  event_id: string;
  event_at: Date;
  event_type: string;
  resource_id: string;
  state: Delivery['state'];
  tries: number;
  next_try_at: Date | null;
  last_try_at: Date | null;
  last_status: number | null;
  last_error: string | null;
  last_ms: number | null;
  created_at: Date;
};

type OutputRef = { orgId: OrgId; outputId: string };

/** Newest first, `limit` + 1 of them. */
export function listDeliveries(
  tx: Tx,
  { orgId, outputId }: OutputRef,
  state: Delivery['state'] | undefined,
  { limit, after }: PageRequest,
): Promise<DeliveryRow[]> {
  return rows(
    tx,
    sql<DeliveryRow>`
      select * from deliveries where organization_id = ${orgId} and output_id = ${outputId}
        ${state === undefined ? sql`` : sql`and state = ${state}`} ${afterMark(after)}
      order by created_at desc, id desc limit ${limit + 1}`,
  );
}

export function findDelivery(tx: Tx, { orgId, outputId }: OutputRef, id: string): Promise<DeliveryRow | undefined> {
  return row(
    tx,
    sql<DeliveryRow>`
      select * from deliveries where organization_id = ${orgId} and output_id = ${outputId} and id = ${id}`,
  );
}

/** Whether the event's body is still kept. */
export async function hasBody(tx: Tx, orgId: OrgId, event: { event_id: string; event_at: Date }): Promise<boolean> {
  const found = await row(
    tx,
    sql`select 1 from outbox where organization_id = ${orgId} and at = ${event.event_at} and id = ${event.event_id}`,
  );
  return found !== undefined;
}

/** Makes a delivery due now, with all its tries before it. */
export async function renewDelivery(tx: Tx, orgId: OrgId, id: string, triesMax: number): Promise<void> {
  await sql`
    update deliveries set state = 'pending', tries_max = tries + ${triesMax}::int, next_try_at = clock_timestamp()
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** An event of one destination alone, whose one delivery this caller holds: no worker takes it before the lease ends. */
export async function insertHeldDelivery(
  tx: Tx,
  { orgId, outputId }: OutputRef,
  event: { id: string; at: Date; type: string; body: string; deliveryId: string },
): Promise<void> {
  await sql`
    with event as (
      insert into outbox (organization_id, id, at, type, resource_id, body)
      values (${orgId}, ${event.id}, ${event.at}, ${event.type}, ${outputId}, ${event.body})
    )
    insert into deliveries (organization_id, id, output_id, event_id, event_at, event_type, resource_id, tries, tries_max, next_try_at,
      last_try_at, created_at)
    values (${orgId}, ${event.deliveryId}, ${outputId}, ${event.id}, ${event.at}, ${event.type}, ${outputId}, 1, 1,
      clock_timestamp() + ${`${leaseMs} milliseconds`}::interval, clock_timestamp(), ${event.at})`.execute(tx);
}
