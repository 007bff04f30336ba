import { type Db, inOrg } from '../../../platform/db/db.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { renewLeasesAcrossOrgs, reapLostRunsAcrossOrgs } from '../../scheduling/run-queue.store.ts';
import { leaseMs, type RunClaim, lockClaimedRun, RunLostError } from '../../scheduling/run-claim.ts';
import { type StopReason, endRun, type EndRunDeps, finishRun } from '../execution/finish-run.ts';
import { listPendingWindows, replaceWindowWithGap } from '../../scheduling/coverage.store.ts';
import { scheduleFill } from '../../scheduling/fill-gaps.store.ts';
import { workerLostFailure } from '../run-model/run-failure.ts';

type LeaseKeeperDeps = { db: Db; log: Logger };

const renewMs = 15_000;
/** A worker that cannot renew a lease stops this long after the last renewal, before the lease ends, to finish its current step. */
const giveUpMs = leaseMs - 10_000;
const checksPerRenewal = 5;

export type LeaseKeeper = {
  /** Renews the lease of a claim until `release`. The signal aborts when the run must stop, with a `StopReason`. */
  hold: (claim: RunClaim) => { signal: AbortSignal; release: () => void };
  /** Stops every held run. */
  stopAll: (reason: StopReason) => void;
  /** Ends the renewals. */
  end: () => void;
};

type HeldLease = { claim: RunClaim; controller: AbortController; renewedAt: number };

/** Renews the leases of the runs that this process executes. Tests set `intervalMs`. */
export function createLeaseKeeper(deps: LeaseKeeperDeps, intervalMs = renewMs): LeaseKeeper {
  const leases = new Set<HeldLease>();
  let isRenewing = false;
  let checks = 0;
  const timer = setInterval(() => {
    // Separate from the renewal, which may hang as long as the database does.
    stopExpiring(leases);
    checks += 1;
    if (isRenewing || leases.size === 0 || checks % checksPerRenewal !== 0) return;
    isRenewing = true;
    void renewLeases(deps, [...leases]).finally(() => {
      isRenewing = false;
    });
  }, intervalMs / checksPerRenewal);
  timer.unref();
  return {
    hold: (claim) => {
      const lease: HeldLease = { claim, controller: new AbortController(), renewedAt: performance.now() };
      leases.add(lease);
      return { signal: lease.controller.signal, release: () => leases.delete(lease) };
    },
    stopAll: (reason) => {
      for (const lease of leases) stopRun(lease, reason);
    },
    end: () => clearInterval(timer),
  };
}

const stopRun = ({ controller }: HeldLease, reason: StopReason): void => controller.abort(reason);

function stopExpiring(leases: Set<HeldLease>): void {
  const oldest = performance.now() - giveUpMs;
  for (const lease of leases) if (lease.renewedAt < oldest) stopRun(lease, 'lost');
}

async function renewLeases({ db, log }: LeaseKeeperDeps, held: HeldLease[]): Promise<void> {
  const requestedAt = performance.now();
  // A lost lease is not renewed even if its run has not stopped yet: another worker may take over.
  const leases = held.filter(({ controller }) => controller.signal.reason !== ('lost' satisfies StopReason));
  try {
    const claims = leases.map((lease) => lease.claim);
    const renewals = await renewLeasesAcrossOrgs(db, claims);
    const byClaim = new Map(renewals.map((renewal) => [renewal.worker + renewal.runId, renewal]));
    for (const lease of leases) {
      const renewal = byClaim.get(lease.claim.worker + lease.claim.runId);
      if (!renewal) stopRun(lease, 'lost');
      else if (renewal.cancelRequested) stopRun(lease, 'cancelled');
      else lease.renewedAt = requestedAt;
    }
  } catch (error) {
    log.warn({ err: error }, 'could not renew leases');
  }
}

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

/** Fails a run that was lost too often. If it was examined, it was lost at its oldest pending window, which becomes a gap that is filled later. */
async function failLostRun({ db, clock }: EndRunDeps, claim: RunClaim): Promise<void> {
  const now = clock();
  await inOrg(db, claim.orgId, async (tx) => {
    await lockClaimedRun(tx, claim);
    if (claim.kind === 'schedule' && claim.phase === 'examine') {
      const [window] = await listPendingWindows(tx, claim, { slotAt: claim.dueAt, limit: 1 });
      if (window) {
        const gap = { from: window.from, to: window.to, reason: workerLostFailure.kind, now };
        if (await replaceWindowWithGap(tx, claim, gap)) await scheduleFill(tx, claim, gap);
      }
    }
    await finishRun(tx, claim, { status: 'failed', failure: workerLostFailure }, now);
  });
}
