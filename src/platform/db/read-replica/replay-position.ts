import { sql } from 'kysely';
import type { Db, Tx } from '../db.ts';

/** Identifies the database of a server. Both are equal on a primary and its replicas, the timeline soon after a failover. */
export type ServerIdentity = { system: string; timeline: number };

/**
 * Returns where the primary's log ends now, as a byte position. Every commit that anyone can see is before it, even one that does not wait for
 * the disk.
 */
export async function readWritePosition(primary: Db): Promise<bigint> {
  const { rows } = await sql<{ position: string }>`
    select (pg_current_wal_insert_lsn() - '0/0')::text as position`.execute(primary);
  return skipBackOverPageHeader(BigInt(rows[0]!.position));
}

/** Returns up to where a replica shows the primary's log, or undefined if the server is no replica. */
export async function readReplayPosition(tx: Tx): Promise<bigint | undefined> {
  const { rows } = await sql<{ position: string | null }>`
    select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::text end as position`.execute(tx);
  const position = rows[0]!.position;
  return position === null ? undefined : BigInt(position);
}

export async function readIdentity(tx: Tx | Db): Promise<ServerIdentity> {
  const { rows } = await sql<ServerIdentity>`
    select s.system_identifier::text as system, c.timeline_id as timeline
    from pg_control_system() s, pg_control_checkpoint() c`.execute(tx as Tx);
  return rows[0]!;
}

const pageBytes = 8192n;
const headerBytes = [24n, 40n];

/** The next record starts after a page's header, but a replica that has replayed the previous page reports the position before it. */
function skipBackOverPageHeader(position: bigint): bigint {
  const offset = position % pageBytes;
  return headerBytes.includes(offset) ? position - offset : position;
}
