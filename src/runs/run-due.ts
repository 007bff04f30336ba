import { claimRunsAcrossOrgs } from '../schedule/claim.ts';
import { enqueueDueRunsAcrossOrgs } from '../schedule/enqueue.ts';
import { executeRun } from './execute.ts';
import type { Judge } from './judge.ts';
import { keepLeases } from './leases.ts';
import { enqueueRechecksAcrossOrgs } from './recheck-store.ts';
import type { RunDeps } from './run.ts';

const enqueueMax = 500;

/**
 * Does at once, at slot time `now`, what the loops do over time: queues the due runs and executes what can be claimed, `places`
 * at a time, until nothing is left to claim. For the demo and tests, which step slot time. Answers how many claims were executed.
 */
export async function runDue(
  deps: RunDeps,
  now: Date,
  { places = 2, judge }: { places?: number; judge?: Judge } = {},
): Promise<number> {
  const at: RunDeps = { ...deps, clock: () => now };
  while ((await enqueueDueRunsAcrossOrgs(deps.db, { now, spreadMs: 0, limit: enqueueMax })).more);
  await enqueueRechecksAcrossOrgs(deps.db, now);
  const leases = keepLeases(deps);
  let executed = 0;
  const work = async (): Promise<void> => {
    for (
      let [claim] = await claimRunsAcrossOrgs(deps.db, now, 1, deps.models?.places);
      claim;
      [claim] = await claimRunsAcrossOrgs(deps.db, now, 1, deps.models?.places)
    ) {
      const { signal, release } = leases.hold(claim);
      await executeRun(at, claim, signal, judge).finally(release);
      executed += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: places }, work));
  } finally {
    leases.end();
  }
  return executed;
}
