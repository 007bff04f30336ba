import { sql } from 'kysely';
import { acrossOrgs, type Db } from '../db/db.ts';
import { loop } from '../lib/loop.ts';
import type { Logger } from '../lib/logger.ts';

// An `asOf` holds for two hours at most; a commit may come a while after the change that it makes.
const keptHours = 3;
const batchMax = 5_000;
const idleMs = 10 * 60_000;

/** Forgets what items were before changes that no `asOf` reaches any more, until the signal ends it. */
export function cleanStatesLoop({ db, log }: { db: Db; log: Logger }, signal: AbortSignal): Promise<void> {
  return loop({ name: 'clean feed states', idleMs, signal, log }, () => cleanStatesAcrossOrgs(db));
}

/** Answers whether there may be more. */
export function cleanStatesAcrossOrgs(db: Db): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const gone = await sql`
      delete from item_states where (item_id, seq_from) in (
        select item_id, seq_from from item_states where kept_at < clock_timestamp() - ${`${keptHours} hours`}::interval
        limit ${batchMax})`.execute(tx);
    return Number(gone.numAffectedRows ?? 0) === batchMax;
  });
}
