import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

export type ConnectionKey = { orgId: OrgId; connectionId: string };

export type NewPause = { kind: string; message: string; query: string | null; since: Date };

/** A pause whose check is due. `query` is the query that failed, or null. */
export type DueCheck = ConnectionKey & { query: string | null };

const checkInterval = sql`interval '5 minutes'`;

const connectionName = sql`(select c.name from connections c
  where c.organization_id = connection_pauses.organization_id and c.id = connection_pauses.connection_id) as name`;

/** Pauses a connection. Returns its name, or undefined if it is already paused or does not exist. */
export function insertPause(
  tx: Tx,
  { orgId, connectionId }: ConnectionKey,
  { kind, message, query, since }: NewPause,
): Promise<{ name: string } | undefined> {
  return queryRow<{ name: string }>(tx)`
      insert into connection_pauses (organization_id, connection_id, kind, message, query, since_at, check_at)
      select ${orgId}::uuid, id, ${kind}, ${message}, ${query}, ${since}::timestamptz, clock_timestamp() + ${checkInterval}
      from connections where organization_id = ${orgId} and id = ${connectionId}
      on conflict do nothing returning ${connectionName}`;
}

/** Ends a pause. Returns the connection's name, or undefined if it was not paused. */
export function deletePause(tx: Tx, { orgId, connectionId }: ConnectionKey): Promise<{ name: string } | undefined> {
  return queryRow<{ name: string }>(tx)`delete from connection_pauses
      where organization_id = ${orgId} and connection_id = ${connectionId} returning ${connectionName}`;
}

/** Returns up to `limit` pauses whose check is due and schedules their next check, so that no other process checks them. */
export function claimChecksAcrossOrgs(db: Db, limit: number): Promise<DueCheck[]> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRows<DueCheck>(tx)`
        update connection_pauses set check_at = clock_timestamp() + ${checkInterval}
        where (organization_id, connection_id) in (
          select organization_id, connection_id from connection_pauses where check_at <= clock_timestamp()
          order by check_at limit ${limit} for update skip locked)
        returning organization_id as "orgId", connection_id as "connectionId", query`,
  );
}
