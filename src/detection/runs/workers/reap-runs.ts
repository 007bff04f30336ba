import { inOrg } from '../../../platform/db/db.ts';
import { listPendingWindows, replaceWindowWithGap } from '../../scheduling/coverage/coverage.store.ts';
import { reapLostRunsAcrossOrgs } from '../../scheduling/queue/run-queue.store.ts';
import type { RunClaim } from '../../scheduling/queue/run-claim.ts';
import { lockClaimedRun, RunLostError } from '../../scheduling/queue/run-fence.ts';
import { endRun, type EndRunDeps } from '../execution/end-run.ts';
import { finishRun } from '../execution/finish-run.ts';
import { workerLostFailure } from '../execution/failures/run-failure.ts';

const reapMax = 100;

/** Takes over runs whose lease has ended: they return to the queue, or fail at the third loss. Returns whether there were any. */
export async function reapRuns(deps: EndRunDeps): Promise<boolean> {
  const { requeued, toEnd } = await reapLostRunsAcrossOrgs(deps.db, reapMax);
  for (const { claim, cancelRequested } of toEnd) {
    try {
      if (cancelRequested) await endRun(deps, claim, { status: 'cancelled', reason: 'requested' });
      else await failLostRun(deps, claim);
    } catch (error) {
      if (!(error instanceof RunLostError)) throw error;
    }
  }
  const hasReaped = requeued + toEnd.length > 0;
  if (hasReaped) deps.log.warn({ requeued, ended: toEnd.length }, 'took over runs of lost workers');
  return hasReaped;
}

/** Fails a run that was lost too often. It was lost at its oldest pending window, which becomes a gap. */
async function failLostRun({ db, clock }: EndRunDeps, claim: RunClaim): Promise<void> {
  const now = clock();
  await inOrg(db, claim.orgId, async (tx) => {
    await lockClaimedRun(tx, claim);
    if (claim.kind === 'schedule') {
      const [window] = await listPendingWindows(tx, claim, { slotAt: claim.dueAt, limit: 1 });
      if (window) {
        const gap = { from: window.from, to: window.to, reason: workerLostFailure.kind, now };
        await replaceWindowWithGap(tx, claim, gap);
      }
    }
    await finishRun(tx, claim, { status: 'failed', failure: workerLostFailure }, now);
  });
}
