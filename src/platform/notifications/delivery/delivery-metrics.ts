import { Counter, type Registry } from 'prom-client';

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
