import { Counter, type Registry } from 'prom-client';
import type { PullResult } from '../../ingestion/pull-plan.ts';

/** Counts a finished pull and its records in the metrics. */
export type RecordPull = (source: { kind: string; organization_id: string }, result: PullResult) => void;

/** Registers the pull counters. Call it once for each registry. */
export function createPullMetrics(registry: Registry): RecordPull {
  const labelNames = ['kind', 'outcome'] as const;
  const items = new Counter({
    name: 'tocsin_ingest_items_total',
    help: 'Records of feed sources, by outcome.',
    labelNames,
    registers: [registry],
  });
  const pulls = new Counter({
    name: 'tocsin_ingest_pulls_total',
    help: 'Pulls of feed sources, by outcome.',
    labelNames,
    registers: [registry],
  });
  return ({ kind }, result) => {
    pulls.inc({ kind, outcome: result.error === undefined ? 'good' : 'failed' });
    for (const outcome of ['added', 'corrected', 'retracted'] as const) items.inc({ kind, outcome }, result[outcome]);
    if (result.error === undefined) items.inc({ kind, outcome: 'skipped' }, result.skipped.length);
  };
}
