import { sql } from 'kysely';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { acrossOrgs, rows, type Db } from '../../platform/db/db.ts';
import type { Run } from './run-types.ts';

type Observe = (run: Run) => void;

// A registry takes each name once; a worker that is started again in one process goes on with the same figures.
const made = new WeakMap<Registry, Observe>();

/** Figures of runs: how late they start, how long each phase takes, how many ended, and what waits in the queue. */
export function createRunMetrics(registry: Registry, db: Db): Observe {
  const before = made.get(registry);
  if (before) return before;
  const registers = [registry];
  const lag = new Histogram({
    name: 'tocsin_run_lag_seconds',
    help: 'From a slot (or request) to the start of its run.',
    buckets: [1, 10, 60, 300, 1800, 7200],
    registers,
  });
  const phases = new Histogram({
    name: 'tocsin_run_phase_seconds',
    help: 'Duration of a phase of a run.',
    labelNames: ['phase'] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  const ended = new Counter({
    name: 'tocsin_runs_total',
    help: 'Runs that ended, by trigger.',
    labelNames: ['trigger'] as const,
    registers,
  });
  void new Gauge({
    name: 'tocsin_run_queue',
    help: 'Runs in the queue, by kind and state.',
    labelNames: ['kind', 'state'] as const,
    registers,
    async collect() {
      this.reset();
      for (const { kind, state, n } of await queueDepth(db)) this.set({ kind, state }, n);
    },
  });
  const observe: Observe = (run) => {
    lag.observe(Math.max(0, run.startedAt.getTime() - run.claim.dueAt.getTime()) / 1000);
    ended.inc({ trigger: run.trigger });
    for (const { name, ms } of run.progress.phases) phases.observe({ phase: name }, ms / 1000);
  };
  made.set(registry, observe);
  return observe;
}

/** Counts the days of 30-day figures that the nightly recount put right. */
export function recountCorrections(registry: Registry): Counter {
  const name = 'tocsin_recount_corrections_total';
  const help = 'Days of 30-day figures, by detection, that the nightly recount put right.';
  const before = registry.getSingleMetric(name) as Counter | undefined;
  return before ?? new Counter({ name, help, registers: [registry] });
}

function queueDepth(db: Db): Promise<{ kind: string; state: string; n: number }[]> {
  return acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<{
        kind: string;
        state: string;
        n: number;
      }>`select kind, state, count(*) as n from run_queue group by kind, state`,
    ),
  );
}
