import type { Db } from '../../../platform/db/db.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { renewLeasesAcrossOrgs } from '../../scheduling/queue/run-queue.store.ts';
import { leaseMs, type RunClaim } from '../../scheduling/queue/run-claim.ts';
import type { StopReason } from '../execution/end-run.ts';

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
