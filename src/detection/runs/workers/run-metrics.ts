import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Db } from '../../../platform/db/db.ts';
import { countQueueEntriesAcrossOrgs } from '../../scheduling/run-queue.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';

export type RunMetrics = {
  /** Records a run that ended. */
  observeRun: (run: ActiveRun) => void;
  /** Counts days that the nightly recount corrected. */
  recountCorrections: Counter;
};

/** Registers the metrics of runs. Call it once per registry. */
export function createRunMetrics(registry: Registry, db: Db): RunMetrics {
  const registers = [registry];
  const lag = new Histogram({
    name: 'tocsin_run_lag_seconds',
    help: 'Time from the slot or the request of a run to its start.',
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
    help: 'Completed runs, by trigger.',
    labelNames: ['trigger'] as const,
    registers,
  });
  void new Gauge({
    name: 'tocsin_run_queue',
    help: 'Runs in the two queues, to examine and to judge, by kind and state.',
    labelNames: ['phase', 'kind', 'state'] as const,
    registers,
    async collect() {
      this.reset();
      // Without the database, the other metrics must still be readable.
      for (const { n, ...labels } of await countQueueEntriesAcrossOrgs(db).catch(() => [])) this.set(labels, n);
    },
  });
  return {
    observeRun: (run) => {
      lag.observe(Math.max(0, run.startedAt.getTime() - run.claim.dueAt.getTime()) / 1000);
      ended.inc({ trigger: run.trigger });
      for (const { name, ms } of run.progress.phases) phases.observe({ phase: name }, ms / 1000);
    },
    recountCorrections: new Counter({
      name: 'tocsin_recount_corrections_total',
      help: 'Days of the daily roll-up, by detection, that the nightly recount corrected.',
      registers,
    }),
  };
}
