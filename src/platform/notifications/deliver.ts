import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, type Registry } from 'prom-client';
import { inOrg, type Db } from '../db/db.ts';
import type { Logger } from '../lib/logging/logger.ts';
import { attemptDelivery, type AttemptDeps } from './delivery-attempt.ts';
import {
  claimDeliveriesAcrossOrgs,
  finishAttempt,
  type AttemptResult,
  type ClaimedDelivery,
  cleanOutboxAcrossOrgs,
} from './deliveries.store.ts';
import { runLoop } from '../lib/concurrency/loop.ts';

export type DeliveryCounter = Counter<'kind' | 'outcome'>;

/** Creates the counter of delivery attempts. `outcome` is delivered, retried or failed. */
export function createDeliveryCounter(registry: Registry): DeliveryCounter {
  return new Counter({
    name: 'tocsin_delivery_tries_total',
    help: 'Attempts to deliver outgoing events, by kind of destination and outcome.',
    labelNames: ['kind', 'outcome'] as const,
    registers: [registry],
  });
}

export type DeliverDeps = AttemptDeps & { db: Db; log: Logger; deliveryCounter: DeliveryCounter };

/** Sends a claimed delivery and stores the result. */
export async function deliverClaimed(
  deps: DeliverDeps,
  delivery: ClaimedDelivery,
  signal?: AbortSignal,
): Promise<AttemptResult> {
  const { fault, ...result } = await attemptDelivery(deps, delivery, signal);
  if (fault !== undefined)
    deps.log.error({ err: fault, deliveryId: delivery.id }, 'a delivery failed because of a fault of the service');
  await inOrg(deps.db, delivery.organization_id, (tx) => finishAttempt(tx, delivery, result));
  if (result.counted)
    deps.deliveryCounter.inc({ kind: delivery.kind, outcome: result.state === 'pending' ? 'retried' : result.state });
  if (result.disable)
    deps.log.warn({ destinationId: delivery.destination_id, reason: result.disable }, 'a destination was disabled');
  return result;
}

/** Delivers everything that is due, `concurrency` deliveries at a time. Returns the number of attempts. For tests and short-lived commands. */
export async function deliverDue(deps: DeliverDeps, concurrency = 16): Promise<number> {
  let attempts = 0;
  for (;;) {
    const claimed = await claimDeliveriesAcrossOrgs(deps.db, concurrency, new Map());
    if (claimed.length === 0) return attempts;
    await Promise.all(claimed.map((delivery) => deliverClaimed(deps, delivery)));
    attempts += claimed.length;
  }
}

const concurrencyMax = 32;
const idleMs = 1000;
const cleanMs = 10 * 60_000;

/**
 * Delivers what is due until the signal aborts. Each destination can use only a few of the concurrent deliveries. Deliveries
 * under way are then stopped, become due again immediately, and are awaited.
 */
export async function deliverLoop(deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  const runningByDestination = new Map<string, number>();
  const running = new Set<Promise<void>>();
  await runLoop({ name: 'deliver', idleMs, signal, log: deps.log }, async () => {
    const free = concurrencyMax - running.size;
    const claimed = free > 0 ? await claimDeliveriesAcrossOrgs(deps.db, free, runningByDestination) : [];
    for (const delivery of claimed) {
      const { destination_id: destinationId } = delivery;
      runningByDestination.set(destinationId, (runningByDestination.get(destinationId) ?? 0) + 1);
      const done: Promise<void> = deliverClaimed(deps, delivery, signal)
        .then(() => undefined)
        .catch((error: unknown) => {
          deps.log.error({ err: error, deliveryId: delivery.id }, 'delivery failed; it is due again after its lease');
        })
        .finally(() => {
          running.delete(done);
          const remaining = runningByDestination.get(destinationId)! - 1;
          if (remaining > 0) runningByDestination.set(destinationId, remaining);
          else runningByDestination.delete(destinationId);
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
