import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import { createSharedCalls } from '../lib/concurrency/shared-calls.ts';
import { mayHaveCommitted } from './retry-on-conflict.ts';
import { explainConnectionFailure } from './server-address.ts';
import {
  type Db,
  type ReadOutcome,
  type ReadReplica,
  type TransactionWork,
  type Tx,
  openDb,
  type DatabaseAddress,
} from './db.ts';

const setting = 'DATABASE_REPLICA_URL';
/** How long a read waits for the replica to catch up, and how long reads skip a replica that did not. */
const catchUpMaxMs = 50;
const skipMs = 250;
/** How long the replica may take to begin a transaction. */
const beginMaxMs = 2_000;
/** How far the replica may be behind when it is checked. */
const lagMaxMs = 1_000;
/**
 * Errors that the primary may not have: read_only_sql_transaction, serialization_failure (a conflict with recovery), deadlock_detected,
 * lock_not_available and feature_not_supported.
 */
const replicaErrors = new Set(['25006', '40001', '40P01', '55P03', '0A000']);

/**
 * Opens the streaming replica at `url` for the transactions of requests that read (`allowReads`). `check` must be called before the first one and
 * then regularly.
 *
 * A transaction runs on the replica only if the replica shows everything that was committed when the transaction began. It therefore reads what
 * it would read on the primary, whoever wrote it in whichever process. If the replica does not catch up in time, fails, or refuses a write, the
 * transaction runs on the primary, from its beginning.
 */
export function openReadReplica(primary: Db, url: string): ReadReplica {
  const open = (): AbandonablePool => openAbandonablePool({ url, isPooled: primary.isPooled });
  const reading = new AsyncLocalStorage<true>();
  const sharePosition = createSharedCalls<bigint>();
  const findTarget = (): Promise<bigint> => sharePosition('primary', () => readWritePosition(primary));
  const counts: Record<ReadOutcome, number> = { replica: 0, behind: 0, refused: 0, failed: 0, skipped: 0 };
  let replica = open();
  let fault: string | null = `The read replica (${setting}) has not been checked.`;
  let skippedUntilMs = 0;

  /** Abandons every connection, because some may never answer. Their transactions then run on the primary. */
  function fail(used: AbandonablePool, error: unknown): void {
    if (used !== replica) return;
    fault = `The read replica cannot be used. ${describe(url, error)}`;
    replica.abandon();
    replica = open();
  }

  async function readOnReplica<T>(opening: string, work: TransactionWork<T>): Promise<{ value: T } | ReadOutcome> {
    const target = await findTarget();
    let hasBegun = false;
    const used = replica;
    try {
      return await withinTime(beginMaxMs, (begin) =>
        used.db.connection().execute(async (connection) => {
          const tx = connection as Tx;
          await sql.raw(opening).execute(tx);
          const isCurrent = await waitForReplay(tx, target, catchUpMaxMs);
          hasBegun = begin();
          if (isCurrent && hasBegun) return { value: await finish(tx, work) };
          await rollBack(tx);
          return 'behind';
        }),
      );
    } catch (error) {
      if (!hasBegun) fail(used, error);
      else if (replicaErrors.has((error as { code?: string }).code ?? '')) return 'refused';
      else if (!mayHaveCommitted(error)) throw error;
      return 'failed';
    }
  }

  return {
    counts,
    allowReads: (work) => reading.run(true, work),
    fault: () => fault,
    async read(opening, work) {
      if (!reading.getStore()) return undefined;
      const isSkipped = fault !== null || performance.now() < skippedUntilMs;
      const result = isSkipped ? 'skipped' : await readOnReplica(opening, work);
      counts[typeof result === 'string' ? result : 'replica'] += 1;
      if (typeof result !== 'string') return result;
      if (result === 'behind') skippedUntilMs = performance.now() + skipMs;
      return undefined;
    },
    async check() {
      // Without the primary every request fails, whatever the replica does.
      const expected = await readExpectation(primary).catch(() => undefined);
      const used = replica;
      if (!expected) return;
      try {
        fault = await withinTime(beginMaxMs + lagMaxMs, () => findFault(used.db, expected));
      } catch (error) {
        fail(used, error);
      }
    },
    close: () => replica.db.destroy(),
  };
}

type Expectation = { identity: ServerIdentity; target: bigint };

const readExpectation = async (primary: Db): Promise<Expectation> => ({
  identity: await readIdentity(primary),
  target: await readWritePosition(primary),
});

/** Returns why reads must not use the replica, or null. Rejects if it does not answer. */
async function findFault(replica: Db, { identity, target }: Expectation): Promise<string | null> {
  return replica.connection().execute(async (connection) => {
    const tx = connection as Tx;
    const { system, timeline } = await readIdentity(tx);
    if (system !== identity.system || (await readReplayPosition(tx)) === undefined)
      return `The server at ${setting} is not a streaming replica of the database. Reads use the primary.`;
    if (timeline !== identity.timeline)
      return 'The read replica does not follow the primary since a failover, or has not written a checkpoint since. Reads use the primary.';
    if (await waitForReplay(tx, target, lagMaxMs)) return null;
    return 'The read replica is more than a second behind. Reads use the primary.';
  });
}

/** Returns whether the replica shows everything before a position, after at most `maxMs`. */
async function waitForReplay(tx: Tx, target: bigint, maxMs: number): Promise<boolean> {
  const deadline = performance.now() + maxMs;
  for (;;) {
    const position = await readReplayPosition(tx);
    if (position === undefined) return false;
    if (position >= target) return true;
    if (performance.now() > deadline) return false;
    await sleep(2);
  }
}

async function finish<T>(tx: Tx, work: TransactionWork<T>): Promise<T> {
  try {
    const value = await work(tx);
    await sql`commit`.execute(tx);
    return value;
  } catch (error) {
    await rollBack(tx);
    throw error;
  }
}

/** A lost connection has rolled back automatically. */
const rollBack = (tx: Tx): Promise<unknown> => sql`rollback`.execute(tx).catch(() => undefined);

/**
 * Rejects unless `work` ends or calls `begin` within `maxMs`. `begin` returns false if it is too late.
 */
async function withinTime<T>(maxMs: number, work: (begin: () => boolean) => Promise<T>): Promise<T> {
  const begun = Promise.withResolvers<void>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    begun.reject(new Error(`It did not answer within ${maxMs / 1000} s.`));
  }, maxMs);
  const result = work(() => {
    begun.resolve();
    return !isLate;
  });
  try {
    await Promise.race([begun.promise, result]);
    return await result;
  } finally {
    clearTimeout(timer);
    result.catch(() => undefined);
  }
}

function describe(url: string, error: unknown): string {
  const { message } = explainConnectionFailure(url, error, setting) as Error;
  return message || String((error as { code?: string }).code);
}

/** Identifies the database of a server. Both are equal on a primary and its replicas, the timeline soon after a failover. */
type ServerIdentity = { system: string; timeline: number };

/**
 * Returns where the primary's log ends now, as a byte position. Every commit that anyone can see is before it, even one that does not wait for
 * the disk.
 */
async function readWritePosition(primary: Db): Promise<bigint> {
  const { rows } = await sql<{ position: string }>`
    select (pg_current_wal_insert_lsn() - '0/0')::text as position`.execute(primary);
  return skipBackOverPageHeader(BigInt(rows[0]!.position));
}

/** Returns up to where a replica shows the primary's log, or undefined if the server is no replica. */
async function readReplayPosition(tx: Tx): Promise<bigint | undefined> {
  const { rows } = await sql<{ position: string | null }>`
    select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::text end as position`.execute(tx);
  const position = rows[0]!.position;
  return position === null ? undefined : BigInt(position);
}

async function readIdentity(tx: Tx | Db): Promise<ServerIdentity> {
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

/** A pool whose connections can be closed while they wait for a server that may never answer. Their statements then reject. */
type AbandonablePool = { db: Db; abandon: () => void };

function openAbandonablePool(address: DatabaseAddress): AbandonablePool {
  const db = openDb(address);
  const clients = new Set<pg.PoolClient & pg.Client>();
  db.pool.on('connect', (client) => clients.add(client as pg.PoolClient & pg.Client));
  db.pool.on('remove', (client) => clients.delete(client as pg.PoolClient & pg.Client));
  return {
    db,
    abandon() {
      void db.destroy().catch(() => undefined);
      // Closes the socket of a client with a running statement instead of waiting for it.
      for (const client of clients) void client.end().catch(() => undefined);
    },
  };
}
