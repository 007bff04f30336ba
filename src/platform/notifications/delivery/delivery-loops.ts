import { setTimeout as sleep } from 'node:timers/promises';
import { loop } from '../../lib/loop.ts';
import { cleanOutboxAcrossOrgs } from './outbox-cleanup.ts';
import { deliverHeld, type DeliverDeps } from './deliver.ts';
import { claimTriesAcrossOrgs } from './deliveries.store.ts';

const placesMax = 32;
const idleMs = 1000;
const cleanMs = 10 * 60_000;

/**
 * Delivers what is due until the signal ends it. Slow destinations hold a few places each, never all. Tries under way then stop and are
 * due again at once; the promise ends when they have.
 */
export async function deliverLoop(deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  const underWay = new Map<string, number>();
  const running = new Set<Promise<void>>();
  await loop({ name: 'deliver', idleMs, signal, log: deps.log }, async () => {
    const places = placesMax - running.size;
    const claimed = places > 0 ? await claimTriesAcrossOrgs(deps.db, places, underWay) : [];
    for (const held of claimed) {
      underWay.set(held.output_id, (underWay.get(held.output_id) ?? 0) + 1);
      const done: Promise<void> = deliverHeld(deps, held, signal)
        .then(() => undefined)
        .catch((error: unknown) => {
          deps.log.error({ err: error, deliveryId: held.id }, 'delivery left to its lease');
        })
        .finally(() => {
          running.delete(done);
          const left = underWay.get(held.output_id)! - 1;
          if (left > 0) underWay.set(held.output_id, left);
          else underWay.delete(held.output_id);
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

/** Forgets old bodies and log entries until the signal ends it. */
export function cleanOutboxLoop(deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  return loop({ name: 'clean-outbox', idleMs: cleanMs, signal, log: deps.log }, () =>
    cleanOutboxAcrossOrgs(deps.db, deps.config.keep.outboxDays),
  );
}
