import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../../platform/db/db.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { isPoolVisible } from './query.sql.ts';

export type PoolVersion = [id: string, seq: number];

/** Returns the pools that the transaction's organization sees, by id. Row-level security enforces the same condition. */
export async function readPools(tx: Tx): Promise<PoolVersion[]> {
  const query = sql<{ id: string; seq: number }>`select id, seq from feed_pools where ${isPoolVisible} order by id`;
  const found = await queryRows(tx, query);
  return found.map(({ id, seq }) => [id, seq]);
}

/** Returns the key that encrypts snapshot tokens. */
export async function readFeedKey(tx: Tx): Promise<Buffer> {
  const found = await queryRow<{ key: Buffer }>(tx)`select key from feed_key`;
  return found!.key;
}

// A snapshot token is valid for two hours at most. The extra hour covers transactions that commit long after they set `kept_at`.
const retentionHours = 3;

const batchMax = 5_000;

const idleMs = 10 * 60_000;

/** Deletes previous states of items and overrides that no valid snapshot token refers to, until the signal aborts. */
export function cleanStatesLoop({ db, log }: { db: Db; log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'clean feed states', idleMs, signal, log }, () => cleanStatesAcrossOrgs(db));
}

/** Deletes one batch per table. Returns whether there may be more. */
function cleanStatesAcrossOrgs(db: Db): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const hasMoreItems = await cleanStates(tx, 'item_states');
    const hasMoreOverrides = await cleanStates(tx, 'feed_override_states');
    return hasMoreItems || hasMoreOverrides;
  });
}

async function cleanStates(tx: Tx, table: 'item_states' | 'feed_override_states'): Promise<boolean> {
  const deleted = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)}
        where kept_at < clock_timestamp() - ${`${retentionHours} hours`}::interval limit ${batchMax}))`.execute(tx);
  return Number(deleted.numAffectedRows ?? 0) === batchMax;
}
