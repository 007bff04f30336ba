import { setTimeout as sleep } from 'node:timers/promises';
import { claimRunsAcrossOrgs, findWaitAcrossOrgs } from '../../scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { executeRun } from '../execution/execute-run.ts';
import type { Judge } from '../judging/judge.ts';
import { keepLeases, type Leases } from './keep-leases.ts';
import { reapRuns } from './reap-runs.ts';
import { enqueueRechecksAcrossOrgs } from '../backfill/rechecks.store.ts';
import type { RunDeps } from '../run-types.ts';

const enqueueMax = 500;
// What another process holds may end long before its lease.
const waitMsMax = 1000;

type Manner = {
  places?: number;
  judge?: Judge | undefined;
  /** Leaves what waits for its next attempt or for the end of a lost lease. */
  leaveWaiting?: boolean;
};

/**
 * Does at once, at slot time `now`, what the loops do over time: queues the due runs and executes them, `places` at a time, until
 * none is left but those of paused connections; it waits for next attempts and takes over lost runs, both of which are counted.
 * For the demo and tests, which step slot time. Answers how many claims were executed.
 */
export async function runDue(
  deps: RunDeps,
  now: Date,
  { places = 2, judge, leaveWaiting = false }: Manner = {},
): Promise<number> {
  const at: RunDeps = { ...deps, clock: () => now };
  while ((await enqueueDueRunsAcrossOrgs(deps.db, { now, spreadMs: 0, limit: enqueueMax })).more);
  while ((await enqueueRechecksAcrossOrgs(deps.db, now)) > 0);
  const leases = keepLeases(deps);
  let executed = 0;
  try {
    for (;;) {
      const done = await Promise.all(Array.from({ length: places }, () => executeClaimable(at, leases, judge)));
      const claims = done.reduce((sum, n) => sum + n, 0);
      executed += claims;
      if (leaveWaiting) return executed;
      const waitMs = await findWaitAcrossOrgs(deps.db, now);
      if (waitMs !== undefined) {
        await sleep(Math.min(waitMs, waitMsMax));
        await reapRuns(at);
        // The wait for an attempt may have ended between the last claim and the question.
      } else if (claims === 0) return executed;
    }
  } finally {
    leases.end();
  }
}

/** Executes one run after the other until nothing can be claimed. Answers how many claims there were. */
async function executeClaimable(deps: RunDeps, leases: Leases, judge: Judge | undefined): Promise<number> {
  for (let executed = 0; ; executed += 1) {
    const [claim] = await claimRunsAcrossOrgs(deps.db, deps.clock(), 1, deps.models?.places);
    if (!claim) return executed;
    const { signal, release } = leases.hold(claim);
    await executeRun(deps, claim, signal, judge).finally(release);
  }
}
