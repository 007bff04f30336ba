import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { isNotSuspended } from '../orgs/orgs.store.ts';
import { readableKinds, type DestinationKind } from './destination-kinds.ts';

/** A destination whose tickets this worker reads. `claimed_at` is a time of the database. */
export type FollowedDestination = {
  organization_id: OrgId;
  id: string;
  kind: DestinationKind;
  settings: Record<string, unknown>;
  sealed: Buffer;
  tickets_until: Date | null;
  tickets_failures: number;
  created_at: Date;
  claimed_at: Date;
};

const leaseMs = 120_000;

/** Claims destinations with open tickets whose turn it is, at most one of each organization, those first that have waited longest. */
export function claimFollowedAcrossOrgs(db: Db, limit: number): Promise<FollowedDestination[]> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRows<FollowedDestination>(tx)`
        with waiting as (
          select distinct on (organization_id) organization_id, id, tickets_due_at from destinations o
          where tickets_due_at <= clock_timestamp() and enabled and kind = any(${readableKinds}::text[])
            and settings ->> 'ticketComments' is distinct from 'ignore' and ${isNotSuspended(sql`organization_id`)}
            and exists (select from tickets t where t.organization_id = o.organization_id and t.destination_id = o.id and t.state <> 'closed')
          order by organization_id, tickets_due_at
        ), due as (select organization_id, id from waiting order by tickets_due_at limit ${limit})
        update destinations o set tickets_due_at = clock_timestamp() + ${`${leaseMs} milliseconds`}::interval
        from due where o.organization_id = due.organization_id and o.id = due.id and o.tickets_due_at <= clock_timestamp()
        returning o.organization_id, o.id, o.kind, o.settings, o.sealed, o.tickets_until, o.tickets_failures, o.created_at,
          clock_timestamp() as claimed_at`,
  );
}

type FollowingResult = { until: Date | null; error: string | null; pauseMs: number; failures: number };

export async function finishFollowing(
  tx: Tx,
  { organization_id: orgId, id }: FollowedDestination,
  { until, error, pauseMs, failures }: FollowingResult,
): Promise<void> {
  await sql`
    update destinations set tickets_until = ${until}::timestamptz, tickets_error = ${error}::text, tickets_failures = ${failures}::int,
      tickets_due_at = clock_timestamp() + ${`${pauseMs} milliseconds`}::interval
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

export type FollowedTicket = { resource_id: string; reference: string; read_at: Date | null; comment_id: number };

/** Returns the open tickets with the references, by reference. */
export async function listFollowedTickets(
  tx: Tx,
  { organization_id: orgId, id }: FollowedDestination,
  references: string[],
): Promise<Map<string, FollowedTicket>> {
  const rows = await queryRows<FollowedTicket>(tx)`
    select resource_id, reference, read_at, comment_id from tickets
    where organization_id = ${orgId} and destination_id = ${id} and reference = any(${references}::text[]) and state <> 'closed'`;
  return new Map(rows.map((row) => [row.reference, row]));
}

type LockedTicket = {
  reference: string;
  state: string;
  updated_at: Date;
  comment_id: number;
  closed_there: boolean | null;
  /** Whether a delivery about the resource waits or is under way. */
  is_busy: boolean;
};

export function lockTicket(
  tx: Tx,
  { organization_id: orgId, id }: FollowedDestination,
  resourceId: string,
): Promise<LockedTicket | undefined> {
  return queryRow<LockedTicket>(tx)`
    select reference, state, updated_at, comment_id, closed_there,
      exists (select from deliveries d where d.organization_id = ${orgId} and d.destination_id = ${id} and d.resource_id = ${resourceId}
        and d.state = 'pending') as is_busy
    from tickets where organization_id = ${orgId} and destination_id = ${id} and resource_id = ${resourceId} for update`;
}

/** Stores what was read of a ticket. A null `readAt` makes it be read again. */
export async function updateFollowedTicket(
  tx: Tx,
  { organization_id: orgId, id }: FollowedDestination,
  resourceId: string,
  { readAt, commentId, closedThere }: { readAt: Date | null; commentId: number; closedThere: boolean | null },
): Promise<void> {
  await sql`
    update tickets set read_at = ${readAt}::timestamptz, comment_id = ${commentId}::bigint, closed_there = ${closedThere}::boolean
    where organization_id = ${orgId} and destination_id = ${id} and resource_id = ${resourceId}`.execute(tx);
}
