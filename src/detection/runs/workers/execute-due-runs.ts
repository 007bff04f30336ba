import { setTimeout as sleep } from 'node:timers/promises';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { claimJudgingAcrossOrgs, claimPlacesAcrossOrgs, type ClaimedPlace } from '../../scheduling/claim-runs.store.ts';
import { findQueueWaitMsAcrossOrgs } from '../../scheduling/run-queue.store.ts';
import { enqueueRechecksAcrossOrgs } from '../execution/backfill-windows.store.ts';
import type { ExecuteRunDeps } from '../execution/execute-run.ts';
import type { Judge } from '../judging/judge.ts';
import { fireDueSchedulesAcrossOrgs } from '../triggers/fire-triggers.ts';
import { executePlace } from './execute-place.ts';
import { createLeaseKeeper, type LeaseKeeper, reapRuns } from './lease-keeper.ts';
import { runsPerBatch } from './run-loops.ts';

const enqueueMax = 500;
/** A run that another process holds may end long before its lease. */
const waitMsMax = 1000;

type ExecuteDueOptions = {
  concurrency?: number;
  judge?: Judge | undefined;
  /** Returns without waiting for later attempts and for the end of lost leases. */
  skipWaiting?: boolean;
};

/**
 * Queues, examines and judges all runs that are due at slot time `now`, as the worker loops would over time. Waits for later attempts and
 * takes over lost runs. Leaves runs of paused connections. The demo and tests use it to step slot time. Returns the number of
 * executed runs, attempts included.
 */
export async function executeDueRuns(
  deps: ExecuteRunDeps,
  now: Date,
  { concurrency = 2, judge, skipWaiting = false }: ExecuteDueOptions = {},
): Promise<number> {
  const depsAtNow: ExecuteRunDeps = { ...deps, clock: () => now };
  while ((await enqueueDueRunsAcrossOrgs(deps.db, { now, spreadMs: 0, limit: enqueueMax })).more);
  while (await fireDueSchedulesAcrossOrgs(deps.db, now));
  while ((await enqueueRechecksAcrossOrgs(deps.db, now)) > 0);
  const leaseKeeper = createLeaseKeeper(deps);
  let executed = 0;
  try {
    for (;;) {
      const workers = Array.from({ length: concurrency }, () => executeClaimable(depsAtNow, leaseKeeper, judge));
      const claims = (await Promise.all(workers)).reduce((sum, n) => sum + n, 0);
      executed += claims;
      if (skipWaiting) return executed;
      const waitMs = await findQueueWaitMsAcrossOrgs(deps.db, now);
      if (waitMs !== undefined) {
        await sleep(Math.min(waitMs, waitMsMax));
        await reapRuns(depsAtNow);
      } else if (claims === 0 && (await enqueueRechecksAcrossOrgs(deps.db, now)) === 0) {
        // With claims, the wait of a run may have ended or late events may have been found since the last claim, so another pass follows.
        return executed;
      }
    }
  } finally {
    leaseKeeper.end();
  }
}

/** Executes runs, one place after the other, until none can be claimed. Returns the number of executed runs. */
async function executeClaimable(deps: ExecuteRunDeps, leaseKeeper: LeaseKeeper, judge?: Judge): Promise<number> {
  for (let executed = 0; ;) {
    const place = await claimNext(deps);
    if (!place) return executed;
    executed += await executePlace(deps, leaseKeeper, place, judge);
  }
}

/** Claims a run to judge, or else runs to examine, so that runs end in their order. */
async function claimNext({ db, clock, models }: ExecuteRunDeps): Promise<ClaimedPlace | undefined> {
  const [toJudge] = await claimJudgingAcrossOrgs(db, clock(), 1, models?.concurrencyLimits ?? {});
  if (toJudge) return { isBatch: false, claims: [toJudge] };
  return (await claimPlacesAcrossOrgs(db, clock(), { limit: 1, batchMax: runsPerBatch }))[0];
}
