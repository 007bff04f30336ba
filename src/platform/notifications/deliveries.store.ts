import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { PageRequest } from '../lib/page-request.ts';
import { ticketKinds, type DestinationKind } from './destination-kinds.ts';
import type { Ticket } from './kinds/destination-kind.ts';
import type { Delivery } from './destinations.schema.ts';
import { afterCursor } from './destinations.store.ts';
import { replaceValue } from '../db/erasure.store.ts';

/** A delivery that this worker has claimed until the lease ends. `tries` includes the current attempt. */
export type ClaimedDelivery = {
  organization_id: OrgId;
  id: string;
  destination_id: string;
  kind: DestinationKind;
  settings: Record<string, unknown>;
  sealed: Buffer;
  event_id: string;
  event_type: string;
  resource_id: string;
  tries: number;
  tries_max: number;
  body: string | null;
  /** What an earlier delivery about the resource left at the destination, or null. */
  ticket: StoredTicket | null;
};

export type StoredTicket = Ticket & { revision: number };

const leaseMs = 60_000;
/** Concurrent deliveries to one destination in one process. A destination that keeps failing gets one. */
const perDestinationMax = 4;
const failingAfter = 3;

/**
 * Claims up to `limit` due deliveries, and only a few per destination, counting the running ones in `runningByDestination`. A claimed
 * delivery is due again when its lease ends, so another worker repeats it if this one dies. Where the destination keeps tickets, deliveries about one resource
 * are claimed one after another, oldest first.
 */
export function claimDeliveriesAcrossOrgs(
  db: Db,
  limit: number,
  runningByDestination: ReadonlyMap<string, number>,
): Promise<ClaimedDelivery[]> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRows<ClaimedDelivery>(tx)`
        with busy as (
          select * from unnest(${[...runningByDestination.keys()]}::uuid[], ${[...runningByDestination.values()]}::int[]) as b (destination_id, n)
        ), due as (
          select d.organization_id, d.id, o.kind, o.settings, o.sealed
          from destinations o left join busy b on b.destination_id = o.id
          cross join lateral (
            select organization_id, id, next_try_at from deliveries w
            where organization_id = o.organization_id and destination_id = o.id and state = 'pending' and next_try_at <= clock_timestamp()
              and (o.kind <> all(${ticketKinds}::text[]) or not exists (
                select from deliveries e where e.organization_id = w.organization_id and e.destination_id = w.destination_id
                  and e.resource_id = w.resource_id and e.state = 'pending' and (e.created_at, e.id) < (w.created_at, w.id)))
            order by next_try_at
            limit greatest(0, case when o.failures >= ${failingAfter}::int then 1 else ${perDestinationMax}::int end - coalesce(b.n, 0))
            for update skip locked
          ) d
          where o.enabled order by d.next_try_at limit ${limit}
        ), claimed as (
          update deliveries d set tries = d.tries + 1, last_try_at = clock_timestamp(),
            next_try_at = clock_timestamp() + ${`${leaseMs} milliseconds`}::interval
          from due where d.organization_id = due.organization_id and d.id = due.id
          returning d.*, due.kind, due.settings, due.sealed
        )
        select c.organization_id, c.id, c.destination_id, c.kind, c.settings, c.sealed, c.event_id, c.event_type, c.resource_id,
          c.tries, c.tries_max, e.body, ${ticketObject} as ticket
        from claimed c left join outbox e on e.at = c.event_at and e.id = c.event_id
        left join tickets t on t.organization_id = c.organization_id and t.destination_id = c.destination_id and t.resource_id = c.resource_id`,
  );
}

/** The ticket of the alias `t` as an object, or null. */
const ticketObject = sql`case when t.reference is not null then
  jsonb_build_object('reference', t.reference, 'state', t.state, 'revision', t.revision) end`;

export async function findTicket(
  tx: Tx,
  { orgId, destinationId }: DestinationRef,
  resourceId: string,
): Promise<StoredTicket | null> {
  const row = await queryRow<{ ticket: StoredTicket | null }>(tx)`
      select ${ticketObject} as ticket from tickets t
      where organization_id = ${orgId} and destination_id = ${destinationId} and resource_id = ${resourceId}`;
  return row?.ticket ?? null;
}

async function saveTicket(tx: Tx, delivery: ClaimedDelivery, ticket: StoredTicket): Promise<void> {
  await sql`
    insert into tickets (organization_id, destination_id, resource_id, reference, state, revision, updated_at)
    select ${delivery.organization_id}, id, ${delivery.resource_id}, ${ticket.reference}, ${ticket.state}, ${ticket.revision}, clock_timestamp()
      from destinations where organization_id = ${delivery.organization_id} and id = ${delivery.destination_id}
    on conflict (organization_id, destination_id, resource_id) do update
      set reference = excluded.reference, state = excluded.state, revision = excluded.revision, updated_at = excluded.updated_at,
        closed_there = case when tickets.reference = excluded.reference and tickets.state = excluded.state then tickets.closed_there end,
        comment_id = case when tickets.reference = excluded.reference then tickets.comment_id else 0 end
      where tickets.revision <= excluded.revision`.execute(tx);
}

export type AttemptResult = {
  state: Delivery['state'];
  /** Delay until the next attempt of a pending delivery, on the database's clock. */
  pauseMs: number | null;
  status: number | null;
  error: string | null;
  ms: number;
  /** False if the service stopped the attempt itself. It then counts neither as an attempt nor as a failure of the destination. */
  counted: boolean;
  /** The reason for disabling the destination, or null. */
  disable: string | null;
  /** What the destination now keeps about the resource. Null if that has not changed. */
  ticket: StoredTicket | null;
};

/** Stores the result of an attempt. Returns false and stores nothing if another worker claimed the delivery or its destination was deleted. */
export async function finishAttempt(tx: Tx, delivery: ClaimedDelivery, result: AttemptResult): Promise<boolean> {
  // A ticket exists even if another worker has taken over the delivery since.
  if (result.ticket) await saveTicket(tx, delivery, result.ticket);
  const nextTryAt =
    result.pauseMs === null ? sql`null` : sql`clock_timestamp() + ${`${result.pauseMs} milliseconds`}::interval`;
  const updated = await queryRow(tx)`
      update deliveries set state = ${result.state}, tries = tries - ${result.counted ? 0 : 1}::int, next_try_at = ${nextTryAt}, last_status = ${result.status}, last_error = ${result.error},
        last_ms = ${result.ms}
      where organization_id = ${delivery.organization_id} and id = ${delivery.id} and tries = ${delivery.tries} and state = 'pending' returning 1`;
  if (!updated) return false;
  if (!result.counted) return true;
  const isDelivered = result.state === 'delivered';
  await sql`
    update destinations set failures = ${isDelivered ? sql`0` : sql`failures + 1`},
      enabled = enabled and ${result.disable === null}, disabled_reason = coalesce(${result.disable}, disabled_reason),
      updated_at = case when ${result.disable === null} then updated_at else greatest(clock_timestamp(), updated_at + interval '1 millisecond') end
    where organization_id = ${delivery.organization_id} and id = ${delivery.destination_id}
      and (failures > 0 or not ${isDelivered} or ${result.disable !== null})`.execute(tx);
  return true;
}

export type DeliveryRow = {
  id: string;
  destination_id: string;
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

const columns = sql`id, destination_id, event_id, event_at, event_type, resource_id, state, tries, next_try_at, last_try_at, last_status, last_error, last_ms, created_at`;

type DestinationRef = { orgId: OrgId; destinationId: string };

/** Returns up to `limit` + 1 deliveries, newest first. */
export function findDeliveries(
  tx: Tx,
  { orgId, destinationId }: DestinationRef,
  state: Delivery['state'] | undefined,
  { limit, after }: PageRequest,
): Promise<DeliveryRow[]> {
  return queryRows<DeliveryRow>(tx)`
      select ${columns} from deliveries where organization_id = ${orgId} and destination_id = ${destinationId}
        ${state === undefined ? sql`` : sql`and state = ${state}`} ${afterCursor(after)}
      order by created_at desc, id desc limit ${limit + 1}`;
}

export function findDelivery(
  tx: Tx,
  { orgId, destinationId }: DestinationRef,
  id: string,
): Promise<DeliveryRow | undefined> {
  return queryRow<DeliveryRow>(tx)`
      select ${columns} from deliveries where organization_id = ${orgId} and destination_id = ${destinationId} and id = ${id}`;
}

/** Returns whether the event's body is still stored. */
export async function isEventStored(
  tx: Tx,
  orgId: OrgId,
  event: { event_id: string; event_at: Date },
): Promise<boolean> {
  const stored = await queryRow(tx)`
    select 1 from outbox where organization_id = ${orgId} and at = ${event.event_at} and id = ${event.event_id}`;
  return stored !== undefined;
}

/** Makes a delivery due now, with all of its attempts available again. */
export async function rescheduleDelivery(tx: Tx, orgId: OrgId, id: string, triesMax: number): Promise<void> {
  await sql`
    update deliveries set state = 'pending', tries_max = tries + ${triesMax}::int, next_try_at = clock_timestamp()
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Inserts an event for one destination with a delivery that the caller has claimed. No worker claims it before the lease ends. */
export async function insertClaimedDelivery(
  tx: Tx,
  { orgId, destinationId }: DestinationRef,
  event: { id: string; at: Date; type: string; body: string; deliveryId: string },
): Promise<void> {
  await sql`
    with event as (
      insert into outbox (organization_id, id, at, type, resource_id, body)
      values (${orgId}, ${event.id}, ${event.at}, ${event.type}, ${destinationId}, ${event.body})
    )
    insert into deliveries (organization_id, id, destination_id, event_id, event_at, event_type, resource_id, tries, tries_max, next_try_at,
      last_try_at, created_at)
    values (${orgId}, ${event.deliveryId}, ${destinationId}, ${event.id}, ${event.at}, ${event.type}, ${destinationId}, 1, 1,
      clock_timestamp() + ${`${leaseMs} milliseconds`}::interval, clock_timestamp(), ${event.at})`.execute(tx);
}

const logDays = 30;
const ticketDays = 365;
const batchMax = 2000;

/** Deletes event bodies older than `bodyDays` without pending deliveries, finished deliveries after 30 days, and what is known of tickets a year after their last change. Returns whether there may be more. */
export function cleanOutboxAcrossOrgs(db: Db, bodyDays: number): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const bodies = await sql`
      delete from outbox where (at, id) in (
        select at, id from outbox e where at < clock_timestamp() - ${`${bodyDays} days`}::interval
          and not exists (select from deliveries d where d.organization_id = e.organization_id and d.event_id = e.id and d.state = 'pending')
        limit ${batchMax})`.execute(tx);
    const deliveries = await sql`
      delete from deliveries where (organization_id, id) in (
        select organization_id, id from deliveries
        where created_at < clock_timestamp() - ${`${logDays} days`}::interval
        and state <> 'pending' limit ${batchMax})`.execute(tx);
    const tickets = await sql`
      delete from tickets where (organization_id, destination_id, resource_id) in (
        select organization_id, destination_id, resource_id from tickets
        where updated_at < clock_timestamp() - ${`${ticketDays} days`}::interval limit ${batchMax})`.execute(tx);
    return [bodies, deliveries, tickets].some(({ numAffectedRows = 0n }) => Number(numAffectedRows) === batchMax);
  });
}

/** Replaces a value in stored event bodies. Returns the number of events. */
export async function eraseFromOutbox(tx: Tx, orgId: OrgId, value: string): Promise<{ outbox: number }> {
  return { outbox: await replaceValue(tx, { orgId, table: 'outbox', columns: ['body'] }, value) };
}
