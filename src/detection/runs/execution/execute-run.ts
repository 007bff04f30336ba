import type { Tx } from '../../../platform/db/db.ts';
import { emitGrownGroupEvents } from '../../hits/hit-events.ts';
import { countReviewedHits } from '../../hits/hit-status.store.ts';
import { isResponseKind, type RunClaim } from '../../scheduling/run-claim.ts';
import { backfillBaseline, type BaselineDeps } from './backfill-baseline.ts';
import { hasBackfillWindows } from './backfill-windows.store.ts';
import { findGrouping, hasTimeLine, type WindowTask } from '../run-model/search-window.ts';
import { finishJudging, judgeCandidates } from '../judging/judge-candidates.ts';
import { judgeRaisedCandidates } from '../judging/judge-raised.ts';
import type { Judge } from '../judging/judge.ts';
import { findJudgeFailure, startJudging, type JudgingSession } from '../judging/judging-session.ts';
import { createJudge, type JudgeDeps } from '../judging/model/model-judge.ts';
import { respond, storeOutcome } from '../responses/respond.ts';
import { insertReview, insertShadowReview } from '../reviews/reviews.store.ts';
import { scoreRun } from '../run-model/run-record.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { commitWindow, PastChangedError, setWindowAside } from './commit-window.ts';
import {
  endRun,
  handleRunError,
  handOver,
  releaseRun,
  type EndRunDeps,
  type ExecutionResult,
  finishRun,
} from './finish-run.ts';
import { examineWindow } from './examine-window.ts';
import type { RunFailure } from '../run-model/run-failure.ts';
import { writeProgress, inRunTransaction } from '../run-model/run-results.store.ts';
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
 * Executes a claimed run in its phase, until it ends or must return to a queue: to be judged by a model, for a later attempt after a transient
 * failure, for the next claim if windows are left, or without counting the attempt if the process shuts down. The reason of `signal` is a
 * `StopReason`. `judge` overrides the judge of the detection. Returns the run if it completed. Throws only if the database fails: then
 * the lease expires and another worker takes over the run.
 */
export async function executeRun(
  deps: ExecuteRunDeps,
  claim: RunClaim,
  signal: AbortSignal,
  judge?: Judge,
): Promise<{ result: ExecutionResult; completed?: ActiveRun }> {
  let run: ActiveRun | undefined;
  let session: JudgingSession | undefined;
  try {
    const started = await startRun(deps, claim);
    run = started.run;
    const { cancelReason: reason } = started;
    if (reason) return { result: await endRun(deps, claim, { status: 'cancelled', reason }) };
    if (isResponseKind(claim.kind)) return { result: await respondAndFinish(deps, run, signal) };
    session = startJudging(judge ?? createJudge(deps, run), signal);
    const result = await (claim.phase === 'examine' ? examineRun : judgeRun)(deps, started, session);
    if (result !== 'finished' || claim.failure !== null) return { result };
    deps.observeRun?.(run);
    return { result, completed: run };
  } catch (error) {
    const isUnjudged = claim.phase === 'examine' && session?.judge.instant === false && hasCandidates(run);
    return { result: await handleRunError(deps, claim, { error, run, signal, isUnjudged }) };
  }
}

/** Executes the run of a response agent, which has no windows and waits for its model from the start. */
async function respondAndFinish(deps: ExecuteRunDeps, run: ActiveRun, signal: AbortSignal): Promise<ExecutionResult> {
  const { judged, score } = await respond(deps, run, signal);
  await inRunTransaction(deps.db, run, async (tx) => {
    const isGradedLater = hasCriteria(run);
    await storeOutcome(tx, run, judged, deps.clock());
    await finishRun(tx, run.claim, { status: 'completed', score: isGradedLater ? null : score, run }, deps.clock());
    if (isGradedLater) await insertReview(tx, run.claim, deps.clock());
  });
  return 'finished';
}

/**
 * Examines the windows of a run in order. A judge that answers immediately judges the candidates of each window in this claim, and those of a
 * continuous run when all windows are stored. If a model has to judge any, the run then waits for that in another queue, so that no model keeps
 * windows waiting.
 */
async function examineRun(
  deps: ExecuteRunDeps,
  { run, pending, hasPendingCandidates, hasRaisedCandidates }: StartedRun,
  session: JudgingSession,
): Promise<ExecutionResult> {
  const { judge, signal } = session;
  run.groupsEvents = await findGrouping(run, pending, signal);
  if (hasPendingCandidates && judge.instant) await judgeCandidates(deps, run, session);
  const windows = pending.slice(0, windowsMax);
  const hasMoreWindows = pending.length > windowsMax;
  const firstNewWindow = windows.find((window) => !window.repeat);
  if (hasTimeLine(run) && firstNewWindow) await runStep(run, backfillBaseline(deps, run, firstNewWindow, signal));
  let mustJudge = !judge.instant && (hasPendingCandidates || (hasRaisedCandidates && run.trigger !== 'manual'));
  for (const [index, window] of windows.entries()) {
    const isLast = index === windows.length - 1 && !hasMoreWindows;
    // The windows that a backfill must revisit are known only after its own windows are stored.
    const mayEnd = isLast && run.trigger !== 'backfill';
    const examining = examineAndStore(deps, run, { window, mayEnd, mustJudge, session });
    const { found, result } = await examining.catch((error: unknown): Promise<StoredWindow> =>
      runStep(run, setWindowAside(deps, run, { window, error, isLast })),
    );
    if (result) return result;
    if (found && judge.instant && run.trigger !== 'continuous') await judgeCandidates(deps, run, session);
    mustJudge ||= found && !judge.instant;
  }
  if (run.trigger === 'continuous' && judge.instant) await judgeCandidates(deps, run, session);
  if (hasMoreWindows || (await hasBackfillWindows(deps, run))) return releaseRun(deps, run.claim);
  return inRunTransaction(deps.db, run, (tx) => endExamination(tx, deps, run, mustJudge));
}

/** `found`: the window has candidates. `result` is set if the examination of the run ended with it. */
type StoredWindow = { found: boolean; result?: ExecutionResult };

type WindowOptions = { window: WindowTask; mayEnd: boolean; mustJudge: boolean; session: JudgingSession };

/**
 * Examines and stores a window. With `mayEnd`, the examination ends in the same transaction, unless the window has candidates that are judged in
 * this claim.
 */
async function examineAndStore(
  deps: ExecuteRunDeps,
  run: ActiveRun,
  { window, mayEnd, mustJudge, session }: WindowOptions,
): Promise<StoredWindow> {
  for (let examinations = 1; ; examinations++) {
    const examination = await runStep(run, examineWindow(deps, run, window, session.signal));
    try {
      const { progress, found, result } = await inRunTransaction(deps.db, run, async (tx) => {
        const { progress, found } = await commitWindow(tx, run, examination, deps.clock());
        if (mayEnd && !(found && session.judge.instant))
          return { progress, found, result: await endExamination(tx, deps, { ...run, progress }, mustJudge || found) };
        await writeProgress(tx, { ...run, progress });
        return { progress, found };
      });
      run.progress = progress;
      return result ? { found, result } : { found };
    } catch (error) {
      if (!(error instanceof PastChangedError) || examinations >= examinationsMax) throw error;
    }
  }
}

/** Completes a run whose windows are examined, or hands it over to be judged, in a fenced transaction. */
async function endExamination(
  tx: Tx,
  deps: ExecuteRunDeps,
  run: ActiveRun,
  mustJudge: boolean,
): Promise<ExecutionResult> {
  if (!mustJudge) {
    await completeRun(tx, deps, run);
    return 'finished';
  }
  await writeProgress(tx, run);
  await handOver(tx, run);
  return 'requeued';
}

/** Judges the candidates of an examined run, then those that earlier runs raised from their facts, and ends the run. */
async function judgeRun(
  deps: ExecuteRunDeps,
  { run, hasRaisedCandidates }: StartedRun,
  session: JudgingSession,
): Promise<ExecutionResult> {
  await judgeCandidates(deps, run, session);
  await finishJudging(deps, run, session);
  const judgeFailure = findJudgeFailure(session);
  if (judgeFailure !== undefined) throw judgeFailure;
  if (hasRaisedCandidates && !session.stop) await judgeRaisedCandidates(deps, run, session);
  const { failure } = run.claim;
  if (failure !== null)
    return endRun(deps, run.claim, { status: 'failed', failure: JSON.parse(failure) as RunFailure }, run);
  await inRunTransaction(deps.db, run, (tx) => completeRun(tx, deps, run));
  return 'finished';
}

const hasCriteria = ({ definition }: ActiveRun): boolean => (definition.acceptanceCriteria ?? []).length > 0;

const hasCandidates = (run: ActiveRun | undefined): boolean =>
  run?.progress.windows.some(({ candidates }) => candidates > 0) === true;

/** Completes a run in a fenced transaction. If its detection has acceptance criteria, its score follows when they are graded. */
async function completeRun(tx: Tx, deps: ExecuteRunDeps, run: ActiveRun): Promise<void> {
  const now = deps.clock();
  // Most runs have nothing to judge and therefore no score.
  const isJudged = hasCandidates(run);
  const isGradedLater = run.progress.judging.verdicts > 0 && hasCriteria(run);
  const score = isJudged && !isGradedLater ? scoreRun(run, await countReviewedHits(tx, run)) : null;
  await finishRun(tx, run.claim, { status: 'completed', score, run }, now);
  if (run.progress.entities.length > 0) await emitGrownGroupEvents(tx, run.orgId, run.detectionId);
  if (isGradedLater) await insertReview(tx, run.claim, now);
  if (isJudged) await insertShadowReview(tx, run.claim, now);
}
