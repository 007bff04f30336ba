import type { Clock } from '../lib/time/clock.ts';
import { runLoop } from '../lib/concurrency/loop.ts';
import type { Logger } from '../lib/logging/logger.ts';
import { acrossOrgs, queryRow, type Db } from './db.ts';

const syncMs = 30_000;

/**
 * Creates the slot clock of production, which follows the database's clock so that all processes of an installation agree. Measures
 * the offset immediately and then every 30 s until the signal aborts. The machine's clock advances the time in between.
 */
export async function createDatabaseClock(db: Db, log: Logger, signal: AbortSignal): Promise<Clock> {
  let offsetMs = await measureOffsetMs(db);
  void runLoop({ name: 'clock', idleMs: syncMs, signal, log }, async () => {
    offsetMs = await measureOffsetMs(db);
    return false;
  });
  return () => new Date(Date.now() + offsetMs);
}

/** Returns how far the database's clock is ahead of this machine's, in milliseconds, assuming a symmetric round trip. */
async function measureOffsetMs(db: Db): Promise<number> {
  return acrossOrgs(db, async (tx) => {
    const sentAt = Date.now();
    const result = await queryRow<{ now: Date }>(tx)`select clock_timestamp() as now`;
    const receivedAt = Date.now();
    const offsetMs = result!.now.getTime() - (sentAt + receivedAt) / 2;
    // A difference within the round trip counts as none: both run on one machine.
    return Math.abs(offsetMs) <= receivedAt - sentAt + 2 ? 0 : offsetMs;
  });
}
