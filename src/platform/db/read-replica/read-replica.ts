import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createSharedCalls } from '../../lib/concurrency/shared-calls.ts';
import { openAbandonablePool, type AbandonablePool } from '../abandonable-pool.ts';
import { mayHaveCommitted } from '../failures/commit-failure.ts';
import { explainConnectionFailure } from '../failures/connection-failure.ts';
import type { Db, ReadOutcome, ReadReplica, TransactionWork, Tx } from '../db.ts';
import { readIdentity, readReplayPosition, readWritePosition, type ServerIdentity } from './replay-position.ts';

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
