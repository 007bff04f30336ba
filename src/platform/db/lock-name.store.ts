import { sql } from 'kysely';
import type { Tx } from './db.ts';

/**
 * Waits for the lock of a name and holds it until the transaction ends. The name begins with what it protects and the organization, such as
 * `views 01a1…`. Different names share a lock only if their 64-bit hashes are equal.
 */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}

/** Like `lockName`, but only waits for transactions that hold the lock alone, and lets others share it. */
export async function shareName(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.execute(tx);
}
