import { Counter, type Registry } from 'prom-client';
import type { OutputKind } from '../outputs.schema.ts';

const counters = new WeakMap<Registry, Counter<'kind' | 'outcome'>>();

/** Counts tries by kind of destination and outcome: delivered, retried, failed. */
export function countTry(registry: Registry, kind: OutputKind, outcome: string): void {
  let counter = counters.get(registry);
  if (!counter) {
    counter = new Counter({
      name: 'tocsin_delivery_tries_total',
      help: 'Tries to deliver outgoing events, by kind of destination and outcome.',
      labelNames: ['kind', 'outcome'] as const,
      registers: [registry],
    });
    counters.set(registry, counter);
  }
  counter.inc({ kind, outcome });
}
