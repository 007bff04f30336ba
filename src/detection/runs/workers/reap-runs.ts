import { reapLostRunsAcrossOrgs } from '../../scheduling/claim-runs.store.ts';
import { holdRun, RunLost } from '../../scheduling/run-fence.ts';
import { leaveGap, listPendingWindows } from '../../scheduling/coverage.store.ts';
import { inOrg } from '../../../platform/db/db.ts';
import type { Claim } from '../../scheduling/claim-runs.store.ts';
import { end } from '../execution/execute-run.ts';
import { workerLost } from '../execution/run-failure.ts';
import { finishRun } from '../execution/finish-run.ts';
import type { RunDeps } from '../run-types.ts';

const reapMax = 100;

/** Takes over runs whose lease has ended: back to the queue, or, lost for the third time, failed. Answers whether there were any. */
export async function reapRuns(deps: RunDeps): Promise<boolean> {
  const { requeued, over } = await reapLostRunsAcrossOrgs(deps.db, reapMax);
  for (const { claim, cancel } of over) {
    try {
      if (cancel) await end(deps, claim, { status: 'cancelled', reason: 'requested' });
      else await failLost(deps, claim);
    } catch (error) {
      if (!(error instanceof RunLost)) throw error;
    }
  }
  if (requeued + over.length > 0) deps.log.warn({ requeued, ended: over.length }, 'took over runs of lost workers');
  return requeued + over.length > 0;
}

/** Windows are examined in order, so the oldest that is left is the one under way each time: it becomes a gap, the others stay pending. */
async function failLost(deps: RunDeps, claim: Claim): Promise<void> {
  const now = deps.clock();
  await inOrg(deps.db, claim.orgId, async (tx) => {
    await holdRun(tx, claim);
    if (claim.kind === 'schedule') {
      const [window] = await listPendingWindows(tx, claim, { slotAt: claim.dueAt, limit: 1 });
      if (window) await leaveGap(tx, claim, { from: window.from, to: window.to, reason: workerLost.kind, now });
    }
    await finishRun(tx, claim, { status: 'failed', failure: workerLost }, now);
  });
}
