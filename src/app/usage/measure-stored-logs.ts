import { acrossOrgs, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { nilId } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { measureStoredLogsAcrossOrgs } from './usage-days.store.ts';

const everyMs = 600_000;
const organizationsPerStep = 200;

/** Measures the stored logs of all organizations every ten minutes, for the usage by day. */
export function measureLoop(deps: { db: Db; clock: Clock; log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'usage', idleMs: everyMs, signal, log: deps.log }, async () => {
    await measureStoredLogs(deps, signal);
    return false;
  });
}

/** Measures the stored logs of all organizations, some in each transaction. Ends early if the signal aborts. */
export async function measureStoredLogs(
  { db, clock }: { db: Db; clock: Clock },
  signal?: AbortSignal,
  limit = organizationsPerStep,
): Promise<void> {
  const day = clock().toISOString().slice(0, 10);
  let afterId = nilId;
  for (;;) {
    const page = { day, afterId, limit };
    const lastId = await acrossOrgs(db, (tx) => measureStoredLogsAcrossOrgs(tx, page));
    if (lastId === undefined || signal?.aborted) return;
    afterId = lastId;
  }
}
