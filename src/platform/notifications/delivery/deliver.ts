import { Counter, type Registry } from 'prom-client';
import { inOrg, type Db } from '../../db/db.ts';
import type { Logger } from '../../lib/logging/logger.ts';
import { attemptDelivery, type AttemptDeps } from './delivery-attempt.ts';
import {
  claimDeliveriesAcrossOrgs,
  finishAttempt,
  type AttemptResult,
  type ClaimedDelivery,
} from './deliveries.store.ts';

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
  if (result.disable) deps.log.warn({ outputId: delivery.output_id, reason: result.disable }, 'an output was disabled');
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
