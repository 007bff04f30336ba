import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import { inSpan } from '../../../platform/lib/logging/spans.ts';
import type { ClockGuard } from '../../scheduling/clock-guard.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { claimJudgingAcrossOrgs, claimRunsAcrossOrgs, placesOf } from '../../scheduling/claim-runs.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { enqueueRechecksAcrossOrgs } from '../execution/backfill-windows.store.ts';
import type { EndRunDeps } from '../execution/end-run.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { executeRun, type ExecuteRunDeps } from '../execution/execute-run.ts';
import { resolveOverdueCandidatesAcrossOrgs } from '../judging/overdue-candidates.ts';
import { expireCasesAcrossOrgs } from '../review-queue/expire-cases.ts';
import { fireDueSchedulesAcrossOrgs } from '../triggers/fire-triggers.ts';
import type { RunMetrics } from './run-metrics.ts';
import { createQuietRuns } from './quiet-runs.ts';
import { createLeaseKeeper, type LeaseKeeper, reapRuns } from './lease-keeper.ts';

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

/** Examines up to `config.runsAtOnce` runs concurrently until `signal` aborts, and completes those that need no model. */
export function executeLoop(deps: ExecuteLoopDeps, signal: AbortSignal): Promise<void> {
  const runDeps = withMetrics(deps);
  const quietRuns = createQuietRuns(runDeps);
  return runClaims(runDeps, signal, {
    name: 'execute',
    places: deps.config.runsAtOnce,
    claim: (places) => claimRunsAcrossOrgs(deps.db, deps.clock(), places),
    afterCompletion: (run) => quietRuns.completeLike(run, signal),
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
    places: Object.values(limits).reduce((sum: number, limit) => sum + placesOf(limit), placesWithoutModel),
    claim: () => claimJudgingAcrossOrgs(deps.db, deps.clock(), 1, limits),
  });
}

const withMetrics = ({ runMetrics, ...deps }: Omit<ExecuteLoopDeps, 'config'>): ExecuteRunDeps =>
  runMetrics ? { ...deps, observeRun: runMetrics.observeRun } : deps;

/** One of the two queues: the runs that this process executes concurrently, and how it claims up to a number of them. */
type QueueWork = {
  name: string;
  places: number;
  claim: (places: number) => Promise<RunClaim[]>;
  afterCompletion?: (run: ActiveRun) => Promise<unknown>;
};

/**
 * Claims and executes runs of one queue until `signal` aborts. Then runs stop at their next step and return to the queue. The promise resolves when
 * they have.
 */
async function runClaims(
  deps: ExecuteRunDeps,
  signal: AbortSignal,
  { name, places, claim, afterCompletion }: QueueWork,
): Promise<void> {
  const leaseKeeper = createLeaseKeeper(deps);
  const running = new Set<Promise<void>>();
  const stop = (): void => leaseKeeper.stopAll('shutdown');
  signal.addEventListener('abort', stop, { once: true });
  await runLoop({ name, idleMs, signal, log: deps.log }, async () => {
    if (running.size >= places) {
      await Promise.race(running);
      return true;
    }
    const claims = await claim(places - running.size);
    for (const one of claims) {
      const execution: Promise<void> = executeClaim(deps, leaseKeeper, one)
        .then((run) => run && afterCompletion?.(run))
        .then(() => undefined)
        .finally(() => running.delete(execution));
      running.add(execution);
    }
    if (signal.aborted) stop();
    if (claims.length === 0 && running.size > 0) await Promise.race([...running, sleepUnref(idleMs)]);
    return claims.length > 0 || running.size > 0;
  });
  await Promise.all(running);
  leaseKeeper.end();
}

/** Executes a claimed run. Returns it if it completed. */
async function executeClaim(
  deps: ExecuteRunDeps,
  leaseKeeper: LeaseKeeper,
  claim: RunClaim,
): Promise<ActiveRun | undefined> {
  const { signal, release } = leaseKeeper.hold(claim);
  try {
    const execute = () => executeRun(deps, claim, signal);
    return (await inSpan('run', { attributes: describeClaim(claim) }, execute)).completed;
  } catch (error) {
    deps.log.error({ err: error, runId: claim.runId }, 'run left to the reaper');
  } finally {
    release();
  }
  return undefined;
}

const describeClaim = ({ orgId, runId, detectionId, kind, phase, attempt }: RunClaim) => ({
  'tocsin.organization.id': orgId,
  'tocsin.run.id': runId,
  'tocsin.detection.id': detectionId,
  'tocsin.run.trigger': kind,
  'tocsin.run.phase': phase,
  'tocsin.run.attempt': attempt,
});

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
