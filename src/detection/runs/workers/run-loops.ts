import type { Deps } from '../../../app/deps.ts';
import { loop } from '../../../platform/lib/loop.ts';
import { claimRunsAcrossOrgs, type Claim } from '../../scheduling/claim-runs.store.ts';
import type { ClockGuard } from '../../scheduling/clock-guard.ts';
import type { Places } from '../../scheduling/concurrency-limits.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { executeRun } from '../execution/execute-run.ts';
import { keepLeases, type Leases } from './keep-leases.ts';
import { createRunMetrics } from '../run-metrics.ts';
import { settleOverdueAcrossOrgs } from '../judging/overdue-candidates.ts';
import { reapRuns } from './reap-runs.ts';
import { enqueueRechecksAcrossOrgs } from '../backfill/rechecks.store.ts';
import type { RunDeps } from '../run-types.ts';

type LoopDeps = RunDeps & Pick<Deps, 'config'>;

type ExecuteDeps = LoopDeps & { metrics?: Pick<Deps['metrics'], 'registry'> };

const enqueueMax = 500;

/** Turns due slots into runs until the signal ends it; holds still while slot time is not to be trusted. */
export function scheduleLoop(deps: LoopDeps, guard: ClockGuard, signal: AbortSignal): Promise<void> {
  return loop({ name: 'schedule', idleMs: 1000, signal, log: deps.log }, async () => {
    if (!guard.check()) return false;
    const { spreadMs } = deps.config;
    const { more } = await enqueueDueRunsAcrossOrgs(deps.db, { now: deps.clock(), spreadMs, limit: enqueueMax });
    return (await enqueueRechecksAcrossOrgs(deps.db, deps.clock())) > 0 || more;
  });
}

/**
 * Claims and executes runs, as many at once as configured, until the signal ends it. Runs under way then stop at their next
 * step and go back to the queue; the promise ends when they have.
 */
export async function executeLoop(given: ExecuteDeps, signal: AbortSignal): Promise<void> {
  const { metrics } = given;
  const deps: LoopDeps = metrics ? { ...given, observe: createRunMetrics(metrics.registry, given.db) } : given;
  const leases = keepLeases(deps);
  const running = new Set<Promise<void>>();
  const models = deps.models?.places ?? {};
  let withModel = 0;
  const stop = (): void => leases.stopAll('shutdown');
  signal.addEventListener('abort', stop, { once: true });
  await loop({ name: 'execute', idleMs: 500, signal, log: deps.log }, async () => {
    const places = deps.config.runsAtOnce - running.size;
    if (places <= 0) {
      await Promise.race(running);
      return true;
    }
    // The last place is for runs without a model: they are not to wait for a slow one.
    const room = Math.max(deps.config.runsAtOnce - 1, 1) - withModel;
    const claims =
      room > 0
        ? await claimRunsAcrossOrgs(deps.db, deps.clock(), Math.min(places, room), models)
        : await claimRunsAcrossOrgs(deps.db, deps.clock(), places, withoutPlaces(models));
    for (const claim of claims) {
      const n = claim.modelAlias !== null && Object.hasOwn(models, claim.modelAlias) ? 1 : 0;
      withModel += n;
      const done: Promise<void> = executeHeld(deps, leases, claim).finally(() => {
        running.delete(done);
        withModel -= n;
      });
      running.add(done);
    }
    if (signal.aborted) stop();
    if (claims.length === 0 && running.size > 0) await Promise.race([...running, idle(500)]);
    return claims.length > 0 || running.size > 0;
  });
  await Promise.all(running);
  leases.end();
}

const withoutPlaces = (models: Places): Places => Object.fromEntries(Object.keys(models).map((alias) => [alias, 0]));

async function executeHeld(deps: RunDeps, leases: Leases, claim: Claim): Promise<void> {
  const { signal, release } = leases.hold(claim);
  try {
    await executeRun(deps, claim, signal);
  } catch (error) {
    deps.log.error({ err: error, runId: claim.runId }, 'run left to the reaper');
  } finally {
    release();
  }
}

const idle = (ms: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, ms).unref();
  });

/** Takes over what lost workers left, and what waited too long for a verdict, until the signal ends it. */
export function reapLoop(deps: LoopDeps, signal: AbortSignal): Promise<void> {
  return loop({ name: 'reap', idleMs: 5000, signal, log: deps.log }, async () => {
    const reaped = await reapRuns(deps);
    return (await settleOverdueAcrossOrgs(deps)) || reaped;
  });
}
