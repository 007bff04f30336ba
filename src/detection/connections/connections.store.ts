import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import type { RemoteKind } from '../siem/registry.ts';

export type ConnectionRow = {
  organization_id: OrgId;
  id: string;
  kind: RemoteKind;
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

/** With why it is paused, if it is. */
export type ConnectionWithPause = ConnectionRow & {
  pause_kind: string | null;
  pause_message: string | null;
  pause_since: Date | null;
};

/** Which connection is asked: the one that is named, else the only one of the SIEM's kind. */
export type ConnectionSelector = { connectionId: string | null; siemType: string | null };

const view = sql`select c.*, p.kind as pause_kind, p.message as pause_message, p.since_at as pause_since
  from connections c left join connection_pauses p on p.organization_id = c.organization_id and p.connection_id = c.id`;

export async function insertConnection(tx: Tx, made: ConnectionRow): Promise<void> {
  await sql`
    insert into connections (organization_id, id, kind, name, settings, sealed, clock, delay_minutes, recheck_minutes, places, created_at, updated_at)
    values (${made.organization_id}, ${made.id}, ${made.kind}, ${made.name}, ${made.settings}, ${made.sealed}, ${made.clock},
      ${made.delay_minutes}, ${made.recheck_minutes}, ${made.places}, ${made.created_at}, ${made.updated_at})`.execute(
    tx,
  );
}

/** Stores all columns that a change may touch; `updated_at` moves strictly forward. */
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

export function findConnection(
  tx: Tx,
  orgId: OrgId,
  id: string,
  lock = false,
): Promise<ConnectionWithPause | undefined> {
  return queryRow(
    tx,
    sql<ConnectionWithPause>`${view} where c.organization_id = ${orgId} and c.id = ${id} ${lock ? sql`for update of c` : sql``}`,
  );
}

/** Newest first, `limit` + 1 of them. */
export function listConnectionRows(
  tx: Tx,
  orgId: OrgId,
  { limit, after }: PageRequest,
): Promise<ConnectionWithPause[]> {
  const older = after ? sql`and (c.created_at, c.id) < (${after.at}, ${after.id}::uuid)` : sql``;
  return queryRows(
    tx,
    sql<ConnectionWithPause>`${view} where c.organization_id = ${orgId} ${older} order by c.created_at desc, c.id desc limit ${limit + 1}`,
  );
}

/** The connection that a detection asks; undefined: there is none, or no telling which. */
export function resolveConnection(tx: Tx, orgId: OrgId, ref: ConnectionSelector): Promise<ConnectionRow | undefined> {
  return queryRow(
    tx,
    sql<ConnectionRow>`select c.* from connections c
      where c.organization_id = ${orgId} and c.id = tocsin_connection(${orgId}, ${ref.connectionId}::uuid, ${ref.siemType}::text)`,
  );
}

/** The names of a few detections that name a connection, deleted ones left out. */
export async function listUsingDetections(tx: Tx, orgId: OrgId, id: string): Promise<string[]> {
  const found = await queryRows(
    tx,
    sql<{ name: string }>`select name from agents
      where organization_id = ${orgId} and connection_id = ${id} and deleted_at is null order by created_at limit 3`,
  );
  return found.map(({ name }) => name);
}
