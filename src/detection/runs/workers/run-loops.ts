import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import { inSpan } from '../../../platform/lib/logging/spans.ts';
import type { ClockGuard } from '../../scheduling/clock-guard.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { claimRunsAcrossOrgs, type ConcurrencyLimits } from '../../scheduling/claim-runs.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { enqueueRechecksAcrossOrgs } from '../execution/backfill-windows.store.ts';
import type { EndRunDeps } from '../execution/end-run.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { executeRun, type ExecuteRunDeps } from '../execution/execute-run.ts';
import { resolveOverdueCandidatesAcrossOrgs } from '../judging/overdue-candidates.ts';
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
    return (await enqueueRechecksAcrossOrgs(deps.db, deps.clock())) > 0 || more;
  });
}

/**
 * Claims and executes up to `config.runsAtOnce` runs concurrently until `signal` aborts. Then runs stop at their next step and
 * return to the queue. The promise resolves when they have.
 */
export async function executeLoop(deps: ExecuteLoopDeps, signal: AbortSignal): Promise<void> {
  const { config, runMetrics } = deps;
  const runDeps: ExecuteRunDeps = runMetrics ? { ...deps, observeRun: runMetrics.observeRun } : deps;
  const quietRuns = createQuietRuns(runDeps);
  const leaseKeeper = createLeaseKeeper(deps);
  const running = new Set<Promise<void>>();
  const limits = deps.models?.concurrencyLimits ?? {};
  let runningWithModel = 0;
  const stop = (): void => leaseKeeper.stopAll('shutdown');
  signal.addEventListener('abort', stop, { once: true });
  await runLoop({ name: 'execute', idleMs, signal, log: deps.log }, async () => {
    const places = config.runsAtOnce - running.size;
    if (places <= 0) {
      await Promise.race(running);
      return true;
    }
    // The last place is reserved for runs without a model, so that they do not wait for a slow one.
    const modelPlaces = Math.max(config.runsAtOnce - 1, 1) - runningWithModel;
    const claims =
      modelPlaces > 0
        ? await claimRunsAcrossOrgs(deps.db, deps.clock(), Math.min(places, modelPlaces), limits)
        : await claimRunsAcrossOrgs(deps.db, deps.clock(), places, setLimitsToZero(limits));
    for (const claim of claims) {
      const modelRuns = claim.modelAlias !== null && Object.hasOwn(limits, claim.modelAlias) ? 1 : 0;
      runningWithModel += modelRuns;
      const execution: Promise<void> = executeClaim(runDeps, leaseKeeper, claim)
        .then((run) => run && quietRuns.completeLike(run, signal))
        .then(() => undefined)
        .finally(() => {
          running.delete(execution);
          runningWithModel -= modelRuns;
        });
      running.add(execution);
    }
    if (signal.aborted) stop();
    if (claims.length === 0 && running.size > 0) await Promise.race([...running, sleepUnref(idleMs)]);
    return claims.length > 0 || running.size > 0;
  });
  await Promise.all(running);
  leaseKeeper.end();
}

const setLimitsToZero = (limits: ConcurrencyLimits): ConcurrencyLimits =>
  Object.fromEntries(Object.keys(limits).map((alias) => [alias, 0]));

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

const describeClaim = ({ orgId, runId, detectionId, kind, attempt }: RunClaim) => ({
  'tocsin.organization.id': orgId,
  'tocsin.run.id': runId,
  'tocsin.detection.id': detectionId,
  'tocsin.run.trigger': kind,
  'tocsin.run.attempt': attempt,
});

const sleepUnref = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

/** Takes over runs of lost workers and resolves overdue candidates until `signal` aborts. */
export function reapLoop(deps: EndRunDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'reap', idleMs: 5000, signal, log: deps.log }, async () => {
    const hasReaped = await reapRuns(deps);
    return (await resolveOverdueCandidatesAcrossOrgs(deps)) || hasReaped;
  });
}
