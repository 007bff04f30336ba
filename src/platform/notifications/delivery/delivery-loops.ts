import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/db.ts';
import type { Logger } from '../../lib/logging/logger.ts';
import { runLoop } from '../../lib/concurrency/loop.ts';
import { deliverClaimed, type DeliverDeps } from './deliver.ts';
import { claimDeliveriesAcrossOrgs } from './deliveries.store.ts';
import { cleanOutboxAcrossOrgs } from './outbox-retention.store.ts';

const concurrencyMax = 32;
const idleMs = 1000;
const cleanMs = 10 * 60_000;

/**
 * Delivers what is due until the signal aborts. Each destination can use only a few of the concurrent deliveries. Deliveries
 * under way are then stopped, become due again immediately, and are awaited.
 */
export async function deliverLoop(deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  const runningByOutput = new Map<string, number>();
  const running = new Set<Promise<void>>();
  await runLoop({ name: 'deliver', idleMs, signal, log: deps.log }, async () => {
    const free = concurrencyMax - running.size;
    const claimed = free > 0 ? await claimDeliveriesAcrossOrgs(deps.db, free, runningByOutput) : [];
    for (const delivery of claimed) {
      const { output_id: outputId } = delivery;
      runningByOutput.set(outputId, (runningByOutput.get(outputId) ?? 0) + 1);
      const done: Promise<void> = deliverClaimed(deps, delivery, signal)
        .then(() => undefined)
        .catch((error: unknown) => {
          deps.log.error({ err: error, deliveryId: delivery.id }, 'delivery failed; it is due again after its lease');
        })
        .finally(() => {
          running.delete(done);
          const remaining = runningByOutput.get(outputId)! - 1;
          if (remaining > 0) runningByOutput.set(outputId, remaining);
          else runningByOutput.delete(outputId);
        });
      running.add(done);
    }
    if (claimed.length === 0 && running.size > 0) await Promise.race([...running, pause(signal)]);
    return running.size > 0;
  });
  await Promise.all(running);
}

const pause = (signal: AbortSignal): Promise<void> =>
  sleep(idleMs, undefined, { signal, ref: false }).catch(() => undefined);

type CleanOutboxDeps = { db: Db; log: Logger; config: { keep: { outboxDays: number } } };

/** Deletes old event bodies and delivery log entries until the signal aborts. */
export function cleanOutboxLoop(deps: CleanOutboxDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'clean-outbox', idleMs: cleanMs, signal, log: deps.log }, () =>
    cleanOutboxAcrossOrgs(deps.db, deps.config.keep.outboxDays),
  );
}
