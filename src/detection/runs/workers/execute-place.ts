import { inOrg } from '../../../platform/db/db.ts';
import { inSpan } from '../../../platform/lib/logging/spans.ts';
import type { ClaimedPlace } from '../../scheduling/claim-runs.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { releaseUnbegunRuns } from '../../scheduling/run-queue.store.ts';
import type { SearchResult, QueryWindow } from '../../siem/connector.ts';
import { executeRun, type ExecuteRunDeps } from '../execution/execute-run.ts';
import type { Judge } from '../judging/judge.ts';
import { searchLimits } from '../run-model/search-window.ts';
import { completeQuietRuns, type KnownResult } from './complete-quiet-runs.ts';
import type { LeaseKeeper } from './lease-keeper.ts';

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
