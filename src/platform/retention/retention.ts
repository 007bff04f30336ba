import { acrossOrgs, type Db, type Tx } from '../db/db.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/logging/logger.ts';
import { runLoop } from '../lib/concurrency/loop.ts';

/** The most rows that a step deletes at a time. */
export const retentionBatchMax = 5000;

/** Deletes one batch of expired rows of all organizations. `now` is slot time. Returns whether there may be more. */
export type RetentionStep = (tx: Tx, now: Date) => Promise<boolean>;

/** Runs the retention steps every hour, and again until no step has rows left to delete. */
export function retentionLoop(
  deps: { db: Db; clock: Clock; log: Logger },
  steps: readonly RetentionStep[],
  signal: AbortSignal,
): Promise<void> {
  return runLoop({ name: 'retention', idleMs: 3_600_000, signal, log: deps.log }, () => applyRetention(deps, steps));
}

/** Runs each step once, in its own transaction. Returns whether any step may have more rows to delete. */
export async function applyRetention(
  { db, clock }: { db: Db; clock: Clock },
  steps: readonly RetentionStep[],
): Promise<boolean> {
  const now = clock();
  let hasMore = false;
  for (const step of steps) if (await acrossOrgs(db, (tx) => step(tx, now))) hasMore = true;
  return hasMore;
}
