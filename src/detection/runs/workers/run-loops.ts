import { setTimeout as sleep } from 'node:timers/promises';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import {
  type ClaimedPlace,
  claimJudgingAcrossOrgs,
  claimPlacesAcrossOrgs,
  listDuePhasesAcrossOrgs,
  placesOf,
} from '../../scheduling/claim-runs.store.ts';
import type { RunPhase } from '../../scheduling/run-claim.ts';
import type { ClockGuard } from '../../scheduling/clock-guard.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { findQueueWaitMsAcrossOrgs } from '../../scheduling/run-queue.store.ts';
import { enqueueRechecksAcrossOrgs } from '../execution/backfill-windows.store.ts';
import type { EndRunDeps } from '../execution/finish-run.ts';
import type { ExecuteRunDeps } from '../execution/execute-run.ts';
import type { Judge } from '../judging/judge.ts';
import { resolveOverdueCandidatesAcrossOrgs } from '../judging/overdue-candidates.ts';
import { expireCasesAcrossOrgs } from '../review-queue/settle-case.ts';
import { fireDueSchedulesAcrossOrgs } from '../triggers/fire-triggers.ts';
import { executePlace, createLeaseKeeper, type LeaseKeeper, reapRuns } from './execute-place.ts';
import type { RunMetrics } from './run-metrics.ts';

type ScheduleLoopDeps = EndRunDeps & { config: { spreadMs: number } };
type ExecuteLoopDeps = ExecuteRunDeps & { config: { runsAtOnce: number }; runMetrics?: RunMetrics };

const enqueueMax = 500;
const idleMs = 500;

/** Creates runs for due slots until `signal` aborts. Pauses while the clock guard does not trust slot time. */
export function scheduleLoop(deps: ScheduleLoopDeps, guard: ClockGuard, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'schedule', idleMs: 1000, signal, log: deps.log }, async () => {
    if (!guard.check()) return false;
    const { spreadMs } = deps.config;
    const { more } = await enqueueDueRunsAcrossOrgs(deps.db, { now: deps.clock(), spreadMs, limit: enqueueMax });
    const hasMoreResponses = await fireDueSchedulesAcrossOrgs(deps.db, deps.clock());
    return (await enqueueRechecksAcrossOrgs(deps.db, deps.clock())) > 0 || more || hasMoreResponses;
  });
}

/** The runs of a batch. More of them save little, and what stops the process would return more of them to the queue. */
const runsPerBatch = 100;

/** Examines up to `config.runsAtOnce` runs or batches concurrently until `signal` aborts, and completes those that need no model. */
export function executeLoop(deps: ExecuteLoopDeps, signal: AbortSignal): Promise<void> {
  return runClaims(withMetrics(deps), signal, {
    name: 'execute',
    phase: 'examine',
    places: deps.config.runsAtOnce,
    claim: (limit) => claimPlacesAcrossOrgs(deps.db, deps.clock(), { limit, batchMax: runsPerBatch }),
  });
}

/** Runs of an alias that is not configured end without a call. They find a place while all others wait for models. */
const placesWithoutModel = 1;

/**
 * Lets models judge the candidates of examined runs until `signal` aborts. Such runs mostly wait, so this process takes as many as the aliases allow
 * all processes together. It takes one at a time, so that organizations take turns.
 */
export function judgeLoop(deps: Omit<ExecuteLoopDeps, 'config'>, signal: AbortSignal): Promise<void> {
  const limits = deps.models?.concurrencyLimits ?? {};
  return runClaims(withMetrics(deps), signal, {
    name: 'judge',
    phase: 'judge',
    places: Object.values(limits).reduce((sum: number, limit) => sum + placesOf(limit), placesWithoutModel),
    claim: async () => {
      const claims = await claimJudgingAcrossOrgs(deps.db, deps.clock(), 1, limits);
      return claims.map((claim) => ({ isBatch: false, claims: [claim] }));
    },
  });
}

const withMetrics = ({ runMetrics, ...deps }: Omit<ExecuteLoopDeps, 'config'>): ExecuteRunDeps =>
  runMetrics ? { ...deps, observeRun: runMetrics.observeRun } : deps;

/** One of the two queues: the places of this process, and how it claims runs for up to a number of them. */
type QueueWork = {
  name: string;
  phase: RunPhase;
  places: number;
  claim: (places: number) => Promise<ClaimedPlace[]>;
};

/**
 * Claims and executes runs of one queue until `signal` aborts. Then runs stop at their next step and return to the queue. The promise resolves when
 * they have.
 */
async function runClaims(deps: ExecuteRunDeps, signal: AbortSignal, work: QueueWork): Promise<void> {
  const { name, phase, places, claim } = work;
  const leaseKeeper = createLeaseKeeper(deps);
  const running = new Set<Promise<void>>();
  const stop = (): void => leaseKeeper.stopAll('shutdown');
  signal.addEventListener('abort', stop, { once: true });
  await runLoop({ name, idleMs, signal, log: deps.log }, async () => {
    if (running.size >= places) {
      await Promise.race(running);
      return true;
    }
    const isDue = (await listDuePhasesAcrossOrgs(deps.db, deps.clock())).includes(phase);
    const claims = isDue ? await claim(places - running.size) : [];
    for (const one of claims) {
      const execution: Promise<void> = executeOrLeave(deps, leaseKeeper, one).finally(() => running.delete(execution));
      running.add(execution);
    }
    if (signal.aborted) stop();
    if (claims.length === 0 && running.size > 0) await Promise.race([...running, sleepUnref(idleMs)]);
    return claims.length > 0 || running.size > 0;
  });
  await Promise.all(running);
  leaseKeeper.end();
}

async function executeOrLeave(deps: ExecuteRunDeps, leaseKeeper: LeaseKeeper, place: ClaimedPlace): Promise<void> {
  try {
    await executePlace(deps, leaseKeeper, place);
  } catch (error) {
    deps.log.error({ err: error, runIds: place.claims.map(({ runId }) => runId) }, 'runs left to the reaper');
  }
}

const sleepUnref = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

/** Takes over runs of lost workers, and resolves overdue candidates and cases that nobody decided, until `signal` aborts. */
export function reapLoop(deps: EndRunDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'reap', idleMs: 5000, signal, log: deps.log }, async () => {
    const hasReaped = await reapRuns(deps);
    const hasExpired = await expireCasesAcrossOrgs(deps);
    return (await resolveOverdueCandidatesAcrossOrgs(deps)) || hasExpired || hasReaped;
  });
}

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
      // Asked before the claims: a wait that ends between the two leads to another pass.
      const waitMs = await findQueueWaitMsAcrossOrgs(deps.db, now);
      const workers = Array.from({ length: concurrency }, () => executeClaimable(depsAtNow, leaseKeeper, judge));
      const done = await Promise.all(workers);
      executed += done.reduce((sum, one) => sum + one.executed, 0);
      // Workers that claim at the same moment may both come away empty-handed.
      if (done.some(({ places }) => places > 0)) continue;
      if (skipWaiting) return executed;
      if (waitMs !== undefined) {
        await sleep(Math.min(waitMs, waitMsMax));
        await reapRuns(depsAtNow);
      } else if ((await enqueueRechecksAcrossOrgs(deps.db, now)) === 0) {
        return executed;
      }
    }
  } finally {
    leaseKeeper.end();
  }
}

/** Executes runs, one place after the other, until none can be claimed. A place whose runs are all put back counts as a place. */
async function executeClaimable(
  deps: ExecuteRunDeps,
  leaseKeeper: LeaseKeeper,
  judge?: Judge,
): Promise<{ places: number; executed: number }> {
  let executed = 0;
  for (let places = 0; ; places += 1) {
    const place = await claimNext(deps);
    if (!place) return { places, executed };
    executed += await executePlace(deps, leaseKeeper, place, judge);
  }
}

/** Claims a run to judge, or else runs to examine, so that runs end in their order. */
async function claimNext({ db, clock, models }: ExecuteRunDeps): Promise<ClaimedPlace | undefined> {
  const due = await listDuePhasesAcrossOrgs(db, clock());
  const [toJudge] = due.includes('judge')
    ? await claimJudgingAcrossOrgs(db, clock(), 1, models?.concurrencyLimits ?? {})
    : [];
  if (toJudge) return { isBatch: false, claims: [toJudge] };
  if (!due.includes('examine')) return undefined;
  return (await claimPlacesAcrossOrgs(db, clock(), { limit: 1, batchMax: runsPerBatch }))[0];
}
