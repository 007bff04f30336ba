import { LRUCache } from 'lru-cache';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { Models } from '../../../platform/models/models.ts';
import { coverWindows } from '../../scheduling/coverage/coverage.store.ts';
import type { ActiveRun } from '../execution/active-run.ts';
import { emitRunEvents } from '../execution/finish-run.ts';
import { examineQuietRuns, toQueuedRuns } from './examine-quiet-runs.ts';
import { finishQuietRuns, listUntouchedRuns, lockUntouchedRuns, type QuietRun } from './quiet-runs.store.ts';

export type QuietRunsDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  models?: Models;
  observeRun?: (run: ActiveRun) => void;
};

/** Completes runs that find nothing many at a time. */
export type QuietRuns = {
  /**
   * Completes the queued runs of the slot of `run` whose queries are searched together with its query and return nothing, whatever their spread
   * start. All other runs stay in the queue. Returns the number of completed runs. Never throws: runs that are not completed stay in the queue.
   */
  completeLike: (run: ActiveRun, signal: AbortSignal) => Promise<number>;
};

const runsPerBatch = 250;
const passesMax = 1000;

/**
 * The runs of a slot that were tried and are not completed. Each is tried once, and those that are queued later in the next pass: the order of
 * their ids says nothing, because a change of a schedule queues the run of a slot by itself.
 */
type Pass = { tried: Set<string>; isRunning: boolean };

export function createQuietRuns(deps: QuietRunsDeps): QuietRuns {
  const passes = new LRUCache<string, Pass>({ max: passesMax });
  return {
    async completeLike(run, signal) {
      const { orgId, claim, connection, trigger, definition } = run;
      if (!connection.together || trigger !== 'schedule' || run.clock === 'event') return 0;
      let completed = 0;
      let pass: Pass | undefined;
      try {
        const group = await connection.together.groupOf(definition.detectionQuery);
        if (group === undefined) return 0;
        const key = JSON.stringify([orgId, claim.dueAt, group]);
        const known = passes.get(key) ?? { tried: new Set<string>(), isRunning: false };
        if (known.isRunning) return 0;
        pass = known;
        pass.isRunning = true;
        passes.set(key, pass);
        for (;;) {
          const page = { dueAt: claim.dueAt, tried: [...pass.tried], limit: runsPerBatch, now: deps.clock() };
          const rows = await inOrg(deps.db, orgId, (tx) => listUntouchedRuns(tx, orgId, page));
          if (rows.length === 0) return completed;
          for (const { runId } of rows) pass.tried.add(runId);
          const queued = await toQueuedRuns(deps, { like: run, group }, rows);
          const stored = await storeQuietRuns(deps, run, await examineQuietRuns(deps, queued, signal));
          for (const id of stored) pass.tried.delete(id);
          completed += stored.length;
        }
      } catch (error) {
        if (!signal.aborted) deps.log.error({ err: error }, 'could not complete runs without rows together');
        return completed;
      } finally {
        if (pass) pass.isRunning = false;
      }
    },
  };
}

/** Stores runs in one transaction, except those that another worker has claimed meanwhile. Returns the ids of those that were stored. */
async function storeQuietRuns(
  { db, clock, observeRun }: QuietRunsDeps,
  { orgId }: ActiveRun,
  quiet: readonly QuietRun[],
): Promise<string[]> {
  if (quiet.length === 0) return [];
  const stored = await inOrg(db, orgId, async (tx) => {
    const runIds = quiet.map(({ run }) => run.id);
    const locked = await lockUntouchedRuns(tx, orgId, runIds);
    const windows = quiet
      .filter(({ run }) => locked.has(run.id))
      .map(({ run: { detectionId, windowFrom, windowTo } }) => ({ detectionId, from: windowFrom!, to: windowTo! }));
    const covered = await coverWindows(tx, orgId, windows);
    const runs = quiet.filter(({ run }) => locked.has(run.id) && covered.has(run.detectionId));
    await finishQuietRuns(tx, orgId, runs, clock());
    await emitRunEvents(tx, orgId, { runIds: runs.map(({ run }) => run.id), status: 'completed' });
    return runs;
  });
  for (const { run } of stored) observeRun?.(run);
  return stored.map(({ run }) => run.id);
}
