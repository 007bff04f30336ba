import { sql } from 'kysely';
import { queryRow, queryRows, type Tx, acrossOrgs, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import type { ConnectionSelector } from '../siem/connector.ts';
import type { RemoteSiemType } from '../siem/connectors/registry.ts';

export type ConnectionRow = {
  organization_id: OrgId;
  id: string;
  kind: RemoteSiemType;
  name: string;
  settings: string;
  sealed: Buffer;
  clock: 'ingest' | 'event';
  delay_minutes: number;
  recheck_minutes: number;
  places: number;
  created_at: Date;
  updated_at: Date;
};

/** A connection with its pause. The pause fields are null if it is not paused. */
export type ConnectionWithPause = ConnectionRow & {
  pause_kind: string | null;
  pause_message: string | null;
  pause_since: Date | null;
};

const selectWithPause = sql`select c.*, p.kind as pause_kind, p.message as pause_message, p.since_at as pause_since
  from connections c left join connection_pauses p on p.organization_id = c.organization_id and p.connection_id = c.id`;

export async function insertConnection(tx: Tx, connection: ConnectionRow): Promise<void> {
  await sql`
    insert into connections (organization_id, id, kind, name, settings, sealed, clock, delay_minutes, recheck_minutes, places, created_at, updated_at)
    values (${connection.organization_id}, ${connection.id}, ${connection.kind}, ${connection.name}, ${connection.settings}, ${connection.sealed}, ${connection.clock},
      ${connection.delay_minutes}, ${connection.recheck_minutes}, ${connection.places}, ${connection.created_at}, ${connection.updated_at})`.execute(
    tx,
  );
}

/** Updates all columns that a change request can set. `updated_at` always increases. */
export async function updateConnection(tx: Tx, next: ConnectionRow, now: Date): Promise<void> {
  await sql`
    update connections set name = ${next.name}, settings = ${next.settings}, sealed = ${next.sealed}, clock = ${next.clock},
      delay_minutes = ${next.delay_minutes}, recheck_minutes = ${next.recheck_minutes}, places = ${next.places},
      updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
    where organization_id = ${next.organization_id} and id = ${next.id}`.execute(tx);
}

export async function deleteConnection(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from connections where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Finds a connection. `isLocked` locks its row for update. */
export function findConnection(
  tx: Tx,
  orgId: OrgId,
  id: string,
  { isLocked = false } = {},
): Promise<ConnectionWithPause | undefined> {
  return queryRow<ConnectionWithPause>(tx)`
    ${selectWithPause} where c.organization_id = ${orgId} and c.id = ${id} ${isLocked ? sql`for update of c` : sql``}`;
}

/** Returns up to `limit` + 1 connections, newest first. */
export function listConnectionRows(
  tx: Tx,
  orgId: OrgId,
  { limit, after }: PageRequest,
): Promise<ConnectionWithPause[]> {
  const older = after ? sql`and (c.created_at, c.id) < (${after.at}, ${after.id}::uuid)` : sql``;
  return queryRows<ConnectionWithPause>(tx)`
    ${selectWithPause} where c.organization_id = ${orgId} ${older} order by c.created_at desc, c.id desc limit ${limit + 1}`;
}

/** Returns the selected connection, or undefined if it does not exist or several match. */
export function resolveConnection(
  tx: Tx,
  orgId: OrgId,
  selector: ConnectionSelector,
): Promise<ConnectionRow | undefined> {
  return queryRow<ConnectionRow>(tx)`select c.* from connections c
      where c.organization_id = ${orgId} and c.id = tocsin_connection(${orgId}, ${selector.connectionId}::uuid, ${selector.siemType}::text)`;
}

/** Returns the names of up to three detections that use a connection, not counting deleted ones. */
export async function listUsingDetections(tx: Tx, orgId: OrgId, id: string): Promise<string[]> {
  const detections = await queryRows<{ name: string }>(tx)`select name from agents
      where organization_id = ${orgId} and connection_id = ${id} and deleted_at is null order by created_at limit 3`;
  return detections.map(({ name }) => name);
}

/** A connection with the organization that owns it. `label` describes it to the operator. */
export type InstalledConnection = { orgId: OrgId; id: string; label: string };

/** Returns up to 1,000 connections of all organizations. */
export function listConnectionsAcrossOrgs(tx: Tx): Promise<InstalledConnection[]> {
  return queryRows<InstalledConnection>(tx)`
    select c.organization_id as "orgId", c.id, c.name || ' (' || c.kind || ', ' || o.name || ')' as label
    from connections c join organizations o on o.id = c.organization_id order by o.name, c.name, c.id limit 1000`;
}

export type ConnectionKey = { orgId: OrgId; connectionId: string };

type NewPause = { kind: string; message: string; query: string | null; since: Date };

/** A pause whose check is due. `query` is the query that failed, or null. */
type DueCheck = ConnectionKey & { query: string | null };

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
