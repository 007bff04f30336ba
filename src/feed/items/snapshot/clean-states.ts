import { sql } from 'kysely';
import { acrossOrgs, type Db, type Tx } from '../../../platform/db/db.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';

// A snapshot token is valid for two hours at most. The extra hour covers transactions that commit long after they set `kept_at`.
const retentionHours = 3;
const batchMax = 5_000;
const idleMs = 10 * 60_000;

/** Deletes previous states of items and overrides that no valid snapshot token refers to, until the signal aborts. */
export function cleanStatesLoop({ db, log }: { db: Db; log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'clean feed states', idleMs, signal, log }, () => cleanStatesAcrossOrgs(db));
}

/** Deletes one batch per table. Returns whether there may be more. */
export function cleanStatesAcrossOrgs(db: Db): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const hasMoreItems = await cleanStates(tx, 'item_states');
    const hasMoreOverrides = await cleanStates(tx, 'feed_override_states');
    return hasMoreItems || hasMoreOverrides;
  });
}

async function cleanStates(tx: Tx, table: 'item_states' | 'feed_override_states'): Promise<boolean> {
  const deleted = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where kept_at < clock_timestamp() - ${`${retentionHours} hours`}::interval limit ${batchMax}))`.execute(
    tx,
  );
  return Number(deleted.numAffectedRows ?? 0) === batchMax;
}
