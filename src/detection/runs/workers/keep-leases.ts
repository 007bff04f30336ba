import { leaseMs, renewLeasesAcrossOrgs, type Claim } from '../../scheduling/claim-runs.store.ts';
import type { StopReason } from '../execution/execute-run.ts';
import type { RunDeps } from '../run-types.ts';

const renewMs = 15_000;
// A worker that cannot renew stops while the lease still stands, with time left for what is under way to end.
const giveUpMs = leaseMs - 10_000;
const checksPerRenewal = 5;

export type Leases = {
  /** Keeps a claim's lease until `release`; the signal says when to stop, its reason is a `StopReason`. */
  hold: (claim: Claim) => { signal: AbortSignal; release: () => void };
  /** Tells every run that is held to stop. */
  stopAll: (reason: StopReason) => void;
  /** Ends the renewing. */
  end: () => void;
};

type Held = { claim: Claim; controller: AbortController; renewedAt: number };

/** Renews the leases of the runs that this process holds, until `end`. `everyMs` is for tests. */
export function keepLeases(deps: Pick<RunDeps, 'db' | 'log'>, everyMs = renewMs): Leases {
  const held = new Set<Held>();
  let renewing = false;
  let checks = 0;
  const timer = setInterval(() => {
    stopLate(held);
    checks += 1;
    if (renewing || held.size === 0 || checks % checksPerRenewal !== 0) return;
    renewing = true;
    void renew(deps, [...held]).finally(() => {
      renewing = false;
    });
  }, everyMs / checksPerRenewal);
  timer.unref();
  return {
    hold: (claim) => {
      const entry: Held = { claim, controller: new AbortController(), renewedAt: performance.now() };
      held.add(entry);
      return { signal: entry.controller.signal, release: () => held.delete(entry) };
    },
    stopAll: (reason) => {
      for (const { controller } of held) controller.abort(reason);
    },
    end: () => clearInterval(timer),
  };
}

// Apart from the renewing itself, which may hang as long as the database does.
function stopLate(held: Set<Held>): void {
  const oldest = performance.now() - giveUpMs;
  for (const entry of held) if (entry.renewedAt < oldest) entry.controller.abort('lost' satisfies StopReason);
}

async function renew(deps: Pick<RunDeps, 'db' | 'log'>, all: Held[]): Promise<void> {
  const asked = performance.now();
  // What was given up is for others to take over, however long it takes to stop.
  const held = all.filter(({ controller }) => controller.signal.reason !== ('lost' satisfies StopReason));
  try {
    const claims = held.map((entry) => entry.claim);
    const renewed = new Map((await renewLeasesAcrossOrgs(deps.db, claims)).map((one) => [one.worker + one.runId, one]));
    for (const entry of held) {
      const found = renewed.get(entry.claim.worker + entry.claim.runId);
      if (!found) entry.controller.abort('lost' satisfies StopReason);
      else if (found.cancel) entry.controller.abort('cancelled' satisfies StopReason);
      else entry.renewedAt = asked;
    }
  } catch (error) {
    deps.log.warn({ err: error }, 'leases could not be renewed');
  }
}
