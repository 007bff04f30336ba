import { inOrgByKey, type Tx } from '../../../platform/db/db.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import { findReviewed } from '../../hits/hit-status.store.ts';
import type { Logger } from '../../../platform/lib/logger.ts';
import type { Claim } from '../../scheduling/claim-runs.store.ts';
import { RunCancelled, RunLost, fence, holdRun, requeue } from '../../scheduling/run-fence.ts';
import { markFailed } from '../../scheduling/coverage.store.ts';
import { windowsMax } from './begin-run.store.ts';
import { beginRun, type Beginning } from './begin-run.ts';
import { commitWindow, PastChanged } from './commit-window.ts';
import { examineWindow, type WindowTask } from './examine-window.ts';
import { failureOf, retryPauseMs } from './run-failure.ts';
import { fillMemory } from '../backfill/backfill-baseline.ts';
import { finishRun, type Outcome } from './finish-run.ts';
import { hasLateWindows } from '../backfill/late-windows.ts';
import { judgeCandidates } from '../judging/judge-candidates.ts';
import type { Judge } from '../judging/judge.ts';
import { judgeFor } from '../judging/model-judge.ts';
import { pausesConnection } from './connection-trouble.ts';
import { pauseModel } from '../../../platform/models/model-pauses.ts';
import { writeFailure, writeNotes, writeProgress } from './progress.store.ts';
import { insertReview, insertShadowReview } from '../reviews/reviews.store.ts';
import type { Run, RunDeps, RunFailure } from '../run-types.ts';
import { scoreOf } from '../run-score.ts';

export type Ended = 'finished' | 'requeued' | 'lost';

/** Why a signal stops a run: the lease is gone, someone cancelled it, or the process stops. */
export type StopReason = 'lost' | 'cancelled' | 'shutdown';

/**
 * Executes a claimed run to its end, or gives it back: for a later attempt after a transient failure, for the next claim when
 * windows are left, uncounted when `signal` says that the process stops. `judge` goes before the detection's own. Throws only
 * where the database does; then the lease runs out and another worker takes the run over.
 */
export async function executeRun(deps: RunDeps, claim: Claim, signal: AbortSignal, judge?: Judge): Promise<Ended> {
  let run: Run | undefined;
  try {
    const beginning = await beginRun(deps, claim);
    run = beginning.run;
    if (beginning.refusal) return await end(deps, claim, { status: 'cancelled', reason: beginning.refusal });
    const ended = await work(deps, beginning, { signal, judge: judge ?? judgeFor(deps, run) });
    if (ended === 'finished') deps.observe?.(run);
    return ended;
  } catch (error) {
    const log = deps.log.child({ runId: claim.runId });
    return settle(deps, claim, { error, run, signal, log });
  }
}

type Doing = { signal: AbortSignal; judge: Judge };

/** A model that fails ends the run, but not before its windows are examined: what waits for a verdict is stored, a window out of reach is not. */
async function work(deps: RunDeps, beginning: Beginning, { signal, judge }: Doing): Promise<Ended> {
  const { run, leftovers } = beginning;
  const judged = new Map<number, number>();
  let trouble: ModelError | undefined;
  const judgeAll = async (): Promise<void> => {
    if (trouble) return;
    trouble = await judgeCandidates(deps, run, { judge, signal, judged }).then(() => undefined, modelTrouble);
  };
  if (leftovers) await judgeAll();
  const windows = windowsOf(beginning);
  const more = beginning.pending.length > windowsMax;
  const fresh = windows.find((window) => !window.again && !window.recheck);
  if (run.trigger !== 'manual' && fresh) await fillMemory(deps, run, fresh, signal);
  for (const [index, window] of windows.entries()) {
    // What a backfill has to look at again is known only once its windows are stored.
    const isLast = index === windows.length - 1 && !more && !trouble && run.trigger !== 'backfill';
    const { needsJudge } = await examineAndStore(deps, run, { window, isLast, signal });
    if (isLast && !needsJudge) return 'finished';
    if (needsJudge) await judgeAll();
  }
  if (more || (await hasLateWindows(deps, run))) return giveBack(deps, run.claim);
  if (trouble) throw trouble;
  return finishLate(deps, run);
}

function modelTrouble(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  throw error;
}

const pastChangesMax = 5;

/** A run that found nothing to judge ends with its last window, in the same transaction. */
async function examineAndStore(
  deps: RunDeps,
  run: Run,
  { window, isLast, signal }: { window: WindowTask; isLast: boolean; signal: AbortSignal },
): Promise<{ needsJudge: boolean }> {
  for (let tries = 1; ; tries++) {
    const examination = await examineWindow(deps, run, window, signal);
    const needsJudge = examination.candidates.length > 0;
    try {
      await inOrgByKey(deps.db, run.orgId, async (tx) => {
        await fence(tx, run.claim);
        await commitWindow(tx, run, examination, deps.clock());
        if (isLast && !needsJudge) await complete(tx, deps, run);
        else await writeProgress(tx, run);
      });
      return { needsJudge };
    } catch (error) {
      if (!(error instanceof PastChanged) || tries >= pastChangesMax) throw error;
    }
  }
}

function windowsOf({ run, pending }: Beginning): WindowTask[] {
  if (run.trigger !== 'manual') return pending.slice(0, windowsMax);
  const isExamined = run.progress.windows.length > 0;
  return isExamined || !run.windowFrom || !run.windowTo ? [] : [{ from: run.windowFrom, to: run.windowTo }];
}

/** A run that a model judged is graded after it is delivered, where there is a judge model; until then it has no score. */
async function complete(tx: Tx, deps: RunDeps, run: Run): Promise<void> {
  const now = deps.clock();
  // Most runs have no rows, and then no score.
  const hasRows = run.progress.windows.some(({ rowsTotal }) => rowsTotal > 0);
  const isGraded = run.progress.judging.verdicts > 0 && deps.models?.find('judge') !== undefined;
  const score = hasRows && !isGraded ? scoreOf(run, await findReviewed(tx, run)) : null;
  await finishRun(tx, run.claim, { status: 'completed', score, run }, now);
  if (isGraded) await insertReview(tx, run.claim, now);
  if (run.progress.windows.some(({ candidates }) => candidates > 0)) await insertShadowReview(tx, run.claim, now);
}

async function finishLate(deps: RunDeps, run: Run): Promise<Ended> {
  await inOrgByKey(deps.db, run.orgId, async (tx) => {
    await fence(tx, run.claim);
    await complete(tx, deps, run);
  });
  return 'finished';
}

/** Ends a run without looking at its results. */
export async function end(deps: RunDeps, claim: Claim, outcome: Outcome, run?: Run): Promise<Ended> {
  await inOrgByKey(deps.db, claim.orgId, async (tx) => {
    await holdRun(tx, claim);
    if (run) await writeNotes(tx, run);
    await finishRun(tx, claim, outcome, deps.clock());
  });
  return 'finished';
}

async function giveBack(deps: RunDeps, claim: Claim): Promise<Ended> {
  await inOrgByKey(deps.db, claim.orgId, async (tx) => {
    await holdRun(tx, claim);
    await requeue(tx, claim, { counted: false });
  });
  return 'requeued';
}

type Trouble = { error: unknown; run: Run | undefined; signal: AbortSignal; log: Logger };

async function settle(deps: RunDeps, claim: Claim, { error, run, signal, log }: Trouble): Promise<Ended> {
  const reason = signal.aborted ? (signal.reason as StopReason) : undefined;
  try {
    if (error instanceof RunLost || reason === 'lost') {
      log.warn('run was taken over by another worker');
      return 'lost';
    }
    if (error instanceof RunCancelled || reason === 'cancelled') {
      return await end(deps, claim, { status: 'cancelled', reason: 'requested' }, run);
    }
    if (reason === 'shutdown') return await giveBack(deps, claim);
    return await fail(deps, claim, { error, run, signal, log });
  } catch (second) {
    if (second instanceof RunLost) return 'lost';
    throw second;
  }
}

async function fail(deps: RunDeps, claim: Claim, { error, run, signal, log }: Trouble): Promise<Ended> {
  const failure = failureOf(error);
  if (failure.kind === 'internal_error') log.error({ err: error }, 'run failed unexpectedly');
  if (run && (await pausesConnection(deps, run, failure, { error, signal }))) {
    if (run.trigger === 'manual') return end(deps, claim, { status: 'failed', failure }, run);
    await waitForConnection(deps, claim, failure);
    return 'requeued';
  }
  const retryMs = retryPauseMs(failure, claim.retries);
  if (retryMs === undefined) {
    const ended = await end(deps, claim, { status: 'failed', failure }, run);
    if (run && error instanceof ModelError && error.pauses)
      await pauseModel(deps, claim.orgId, run.definition.modelAlias, error);
    return ended;
  }
  await inOrgByKey(deps.db, claim.orgId, async (tx) => {
    await holdRun(tx, claim);
    await writeFailure(tx, claim, failure);
    await requeue(tx, claim, { counted: true, retryMs });
  });
  return 'requeued';
}

/** Back to the queue as it was: no claim takes it before its connection is well. Its windows wait with it, for whatever slot comes first. */
async function waitForConnection(deps: RunDeps, claim: Claim, failure: RunFailure): Promise<void> {
  await inOrgByKey(deps.db, claim.orgId, async (tx) => {
    await holdRun(tx, claim);
    if (claim.kind === 'schedule') await markFailed(tx, claim, { slotAt: claim.dueAt, kind: failure.kind });
    await writeFailure(tx, claim, failure);
    await requeue(tx, claim, { counted: false });
  });
}
