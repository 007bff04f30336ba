import type { Tx } from '../../../platform/db/db.ts';
import { emitGrownGroupEvents } from '../../hits/hit-events.ts';
import { countReviewedHits } from '../../hits/hit-status.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { backfillBaseline, type BaselineDeps } from './backfill-baseline.ts';
import { hasBackfillWindows } from './backfill-windows.store.ts';
import { findGrouping, type WindowTask } from '../run-model/search-window.ts';
import { finishJudging, judgeCandidates } from '../judging/judge-candidates.ts';
import { judgeRaisedCandidates } from '../judging/judge-raised.ts';
import type { Judge } from '../judging/judge.ts';
import { findJudgeFailure, startJudging } from '../judging/judging-session.ts';
import { createJudge, type JudgeDeps } from '../judging/model/model-judge.ts';
import { insertReview, insertShadowReview } from '../reviews/reviews.store.ts';
import { scoreRun } from '../run-model/run-record.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { commitWindow, PastChangedError, setWindowAside } from './commit-window.ts';
import { endRun, handleRunError, releaseRun, type EndRunDeps, type ExecutionResult } from './end-run.ts';
import { examineWindow } from './examine-window.ts';
import { finishRun } from './finish-run.ts';
import { writeProgress, inRunTransaction } from '../run-model/progress.store.ts';
import { runStep } from '../run-model/run-progress.ts';
import { startRun, type StartedRun, type StartRunDeps } from './start-run.ts';
import { windowsMax } from './start-run.store.ts';

/** `clock` is slot time. Without `models` the built-in analyst judges every detection. `observeRun` is called when a run completes. */
export type ExecuteRunDeps = StartRunDeps &
  BaselineDeps &
  JudgeDeps &
  EndRunDeps & { observeRun?: (run: ActiveRun) => void };

/** Maximum number of times that a window is examined because its past changed meanwhile. */
const examinationsMax = 5;

/**
 * Executes a claimed run until it ends or must return to the queue: for a later attempt after a transient failure, for the next
 * claim if windows are left, or without counting the attempt if the process shuts down. The reason of `signal` is a
 * `StopReason`. `judge` overrides the judge of the detection. Returns the run if it completed. Throws only if the database fails:
 * then the lease expires and another worker takes over the run.
 */
export async function executeRun(
  deps: ExecuteRunDeps,
  claim: RunClaim,
  signal: AbortSignal,
  judge?: Judge,
): Promise<{ result: ExecutionResult; completed?: ActiveRun }> {
  let run: ActiveRun | undefined;
  try {
    const started = await startRun(deps, claim);
    run = started.run;
    const { cancelReason: reason } = started;
    if (reason) return { result: await endRun(deps, claim, { status: 'cancelled', reason }) };
    const result = await examineAndJudge(deps, started, { signal, judge: judge ?? createJudge(deps, run) });
    if (result !== 'finished') return { result };
    deps.observeRun?.(run);
    return { result, completed: run };
  } catch (error) {
    return { result: await handleRunError(deps, claim, { error, run, signal }) };
  }
}

/**
 * Examines the windows of a run in order and judges their candidates. A failing judge ends the run only after all windows are
 * examined, because windows expire. Then its candidates are raised from their facts, or wait for the next attempt.
 */
async function examineAndJudge(
  deps: ExecuteRunDeps,
  { run, pending, hasPendingCandidates, hasRaisedCandidates }: StartedRun,
  { signal, judge }: { signal: AbortSignal; judge: Judge },
): Promise<ExecutionResult> {
  const session = startJudging(judge, signal);
  run.groupsEvents = await findGrouping(run, pending, signal);
  if (hasPendingCandidates) await judgeCandidates(deps, run, session);
  const windows = pending.slice(0, windowsMax);
  const hasMoreWindows = pending.length > windowsMax;
  const firstNewWindow = windows.find((window) => !window.repeat);
  if (run.trigger !== 'manual' && firstNewWindow)
    await runStep(run, backfillBaseline(deps, run, firstNewWindow, signal));
  for (const [index, window] of windows.entries()) {
    const isLast = index === windows.length - 1 && !hasMoreWindows;
    const hasMoreToJudge = hasRaisedCandidates || session.stop !== null || session.waitingIds.size > 0;
    // The windows that a backfill must revisit are known only after its own windows are stored.
    const mayFinish = isLast && !hasMoreToJudge && run.trigger !== 'backfill';
    const { hasCandidates } = await examineAndStore(deps, run, { window, mayFinish, signal }).catch((error: unknown) =>
      runStep(run, setWindowAside(deps, run, { window, error, isLast })),
    );
    if (hasCandidates) await judgeCandidates(deps, run, session);
    else if (mayFinish) return 'finished';
  }
  if (hasMoreWindows || (await hasBackfillWindows(deps, run))) return releaseRun(deps, run.claim);
  await finishJudging(deps, run, session);
  const judgeFailure = findJudgeFailure(session);
  if (judgeFailure !== undefined) throw judgeFailure;
  if (hasRaisedCandidates && !session.stop) await judgeRaisedCandidates(deps, run, session);
  await inRunTransaction(deps.db, run, (tx) => completeRun(tx, deps, run));
  return 'finished';
}

/** Examines and stores a window. If it has no candidates and `mayFinish` is set, the run completes in the same transaction. */
async function examineAndStore(
  deps: ExecuteRunDeps,
  run: ActiveRun,
  { window, mayFinish, signal }: { window: WindowTask; mayFinish: boolean; signal: AbortSignal },
): Promise<{ hasCandidates: boolean }> {
  for (let examinations = 1; ; examinations++) {
    const examination = await runStep(run, examineWindow(deps, run, window, signal));
    const hasCandidates = examination.candidates.length > 0;
    try {
      run.progress = await inRunTransaction(deps.db, run, async (tx) => {
        const progress = await commitWindow(tx, run, examination, deps.clock());
        if (mayFinish && !hasCandidates) await completeRun(tx, deps, { ...run, progress });
        else await writeProgress(tx, { ...run, progress });
        return progress;
      });
      return { hasCandidates };
    } catch (error) {
      if (!(error instanceof PastChangedError) || examinations >= examinationsMax) throw error;
    }
  }
}

/** Completes a run in a fenced transaction. If the judge model will review the run, its score follows later. */
async function completeRun(tx: Tx, deps: ExecuteRunDeps, run: ActiveRun): Promise<void> {
  const now = deps.clock();
  // Most runs have nothing to judge and therefore no score.
  const hasCandidates = run.progress.windows.some(({ candidates }) => candidates > 0);
  const isGradedLater = run.progress.judging.verdicts > 0 && deps.models?.find('judge') !== undefined;
  const score = hasCandidates && !isGradedLater ? scoreRun(run, await countReviewedHits(tx, run)) : null;
  await finishRun(tx, run.claim, { status: 'completed', score, run }, now);
  if (run.progress.entities.length > 0) await emitGrownGroupEvents(tx, run.orgId, run.detectionId);
  if (isGradedLater) await insertReview(tx, run.claim, now);
  if (hasCandidates) await insertShadowReview(tx, run.claim, now);
}
