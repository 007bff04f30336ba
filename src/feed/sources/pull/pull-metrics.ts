import { Counter, type Registry } from 'prom-client';
import type { PullResult } from '../../ingestion/pull-plan.ts';

type Observe = (kind: string, result: PullResult) => void;

// A registry takes each name once.
const made = new WeakMap<Registry, Observe>();

/** Figures of pulls: records by what became of them, and pulls that failed, by kind of source. */
export function ingestMetrics(registry: Registry): Observe {
  const before = made.get(registry);
  if (before) return before;
  const labelNames = ['kind', 'outcome'] as const;
  const items = new Counter({
    name: 'tocsin_ingest_items_total',
    help: 'Records of feed sources, by what became of them.',
    labelNames,
    registers: [registry],
  });
  const pulls = new Counter({
    name: 'tocsin_ingest_pulls_total',
    help: 'Pulls of feed sources, good and failed.',
    labelNames,
    registers: [registry],
  });
  const observe: Observe = (kind, result) => {
    pulls.inc({ kind, outcome: result.error === undefined ? 'good' : 'failed' });
    for (const outcome of ['added', 'corrected', 'retracted'] as const) items.inc({ kind, outcome }, result[outcome]);
    if (result.error === undefined) items.inc({ kind, outcome: 'skipped' }, result.skipped.length);
  };
  made.set(registry, observe);
  return observe;
}
