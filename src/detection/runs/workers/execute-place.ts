import { inOrg, type Db } from '../../../platform/db/db.ts';
import { inSpan } from '../../../platform/lib/logging/spans.ts';
import type { ClaimedPlace } from '../../scheduling/claim-runs.store.ts';
import { type RunClaim, leaseMs, lockClaimedRun, RunLostError } from '../../scheduling/run-claim.ts';
import { releaseUnbegunRuns, renewLeasesAcrossOrgs, reapLostRunsAcrossOrgs } from '../../scheduling/run-queue.store.ts';
import type { SearchResult, QueryWindow } from '../../siem/connector.ts';
import { executeRun, type ExecuteRunDeps } from '../execution/execute-run.ts';
import type { Judge } from '../judging/judge.ts';
import { searchLimits } from '../run-model/search-window.ts';
import { completeQuietRuns, type KnownResult } from './complete-quiet-runs.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { type StopReason, endRun, type EndRunDeps, finishRun } from '../execution/finish-run.ts';
import { listPendingWindows, replaceWindowWithGap } from '../../scheduling/coverage.store.ts';
import { scheduleFill } from '../../scheduling/fill-gaps.store.ts';
import { workerLostFailure } from '../run-model/run-failure.ts';

/** Runs of a batch that found something are executed a few at a time, until the batch has taken this long. Then its place goes to others. */
const aloneAtOnce = 4;
const batchMs = 10_000;

/**
 * Executes the runs of a place: the one that was claimed, or a batch. Of a batch, the runs that find nothing are completed together, and those that
 * found something are executed one by one with what their query returned. All others, whose query failed, was slow or is not one to share, return to
 * the queue and get places of their own. Returns the number of executed runs. Throws only if the database fails.
 */
export async function executePlace(
  deps: ExecuteRunDeps,
  leaseKeeper: LeaseKeeper,
  { isBatch, claims }: ClaimedPlace,
  judge?: Judge,
): Promise<number> {
  const held = claims.map((claim) => ({ claim, ...leaseKeeper.hold(claim) }));
  try {
    if (!isBatch) {
      await executeAlone(deps, held[0]!, judge);
      return 1;
    }
    return await executeBatch(deps, held, judge);
  } finally {
    for (const { release } of held) release();
  }
}

type HeldRun = { claim: RunClaim; signal: AbortSignal };

async function executeBatch(deps: ExecuteRunDeps, held: readonly HeldRun[], judge?: Judge): Promise<number> {
  const began = performance.now();
  const { orgId } = held[0]!.claim;
  const claims = held.map(({ claim }) => claim);
  const signal = AbortSignal.any(held.map((one) => one.signal));
  const attributes = { 'tocsin.organization.id': orgId, 'tocsin.run.count': claims.length };
  const { completed, found } = await inSpan('run batch', { attributes }, () => completeQuietRuns(deps, claims, signal));
  const toExecute = held.filter(({ claim }) => found.has(claim.runId));
  let executed = completed.size;
  const left = new Set(held.filter(({ claim }) => !completed.has(claim.runId)));
  const work = async (): Promise<void> => {
    while (performance.now() - began < batchMs && !signal.aborted) {
      const next = toExecute.shift();
      if (!next) return;
      left.delete(next);
      await executeAlone(withKnownResult(deps, found.get(next.claim.runId)!), next, judge);
      executed += 1;
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: aloneAtOnce }, work));
  if (left.size > 0)
    await inOrg(deps.db, orgId, (tx) =>
      releaseUnbegunRuns(
        tx,
        [...left].map(({ claim }) => claim),
      ),
    );
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
  return executed;
}

async function executeAlone(deps: ExecuteRunDeps, { claim, signal }: HeldRun, judge?: Judge): Promise<void> {
  await inSpan('run', { attributes: describeClaim(claim) }, () => executeRun(deps, claim, signal, judge));
}

const describeClaim = ({ orgId, runId, detectionId, kind, phase, attempt }: RunClaim) => ({
  'tocsin.organization.id': orgId,
  'tocsin.run.id': runId,
  'tocsin.detection.id': detectionId,
  'tocsin.run.trigger': kind,
  'tocsin.run.phase': phase,
  'tocsin.run.attempt': attempt,
});

/** Returns dependencies whose connection returns a known result once, and searches everything else. */
function withKnownResult(deps: ExecuteRunDeps, known: KnownResult): ExecuteRunDeps {
  let result: SearchResult | undefined = known.result;
  const knownText = describeWindow(known.window);
  return {
    ...deps,
    connectionFor: async (...selector) => {
      const connection = await deps.connectionFor(...selector);
      return {
        ...connection,
        search: (query, window, limits, signal) => {
          const isKnown = query === known.query && limits === searchLimits && describeWindow(window) === knownText;
          const taken = isKnown ? result : undefined;
          if (taken) result = undefined;
          return taken ? Promise.resolve(taken) : connection.search(query, window, limits, signal);
        },
      };
    },
  };
}

const describeWindow = ({ from, to, clock, ingestedBefore, lateSince, earlierApart = false }: QueryWindow): string =>
  JSON.stringify([from, to, clock, ingestedBefore, lateSince, earlierApart]);

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
