import { sql } from 'kysely';
import type { Clock } from '../lib/clock.ts';
import { loop } from '../lib/loop.ts';
import type { Logger } from '../lib/logger.ts';
import { acrossOrgs, row, type Db } from './db.ts';

const syncMs = 30_000;

/**
 * Slot time of production: the database's clock, so that every process of an installation has the same. It is asked at once and
 * then every 30 s until the signal ends it; in between the machine's own clock carries it on.
 */
export async function databaseClock(db: Db, log: Logger, signal: AbortSignal): Promise<Clock> {
  let aheadMs = await measureAhead(db);
  void loop({ name: 'clock', idleMs: syncMs, signal, log }, async () => {
    aheadMs = await measureAhead(db);
    return false;
  });
  return () => new Date(Date.now() + aheadMs);
}

/** How far the database's clock is ahead of this machine's, in milliseconds; half of the round trip is taken as the way there. */
async function measureAhead(db: Db): Promise<number> {
  return acrossOrgs(db, async (tx) => {
    const asked = Date.now();
    const answer = await row(tx, sql<{ now: Date }>`select clock_timestamp() as now`);
    const answered = Date.now();
    const ahead = answer!.now.getTime() - (asked + answered) / 2;
    // Less than the way itself is no difference: one machine has one clock.
    return Math.abs(ahead) <= answered - asked + 2 ? 0 : ahead;
  });
}
