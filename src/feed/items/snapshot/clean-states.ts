import { sql } from 'kysely';
import { acrossOrgs, type Db, type Tx } from '../../../platform/db/db.ts';
import { loop } from '../../../platform/lib/loop.ts';
import type { Logger } from '../../../platform/lib/logger.ts';

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
    const [items, overrides] = [await cleanStates(tx, 'item_states'), await cleanStates(tx, 'feed_override_states')];
    return items || overrides;
  });
}

async function cleanStates(tx: Tx, table: 'item_states' | 'feed_override_states'): Promise<boolean> {
  const gone = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where kept_at < clock_timestamp() - ${`${keptHours} hours`}::interval limit ${batchMax}))`.execute(
    tx,
  );
  return Number(gone.numAffectedRows ?? 0) === batchMax;
}
