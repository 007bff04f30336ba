import { isBudgetExceeded } from '../../../platform/models/model-error.ts';
import { RunCancelledError, RunLostError } from '../../scheduling/run-claim.ts';
import { addStats, countInvestigation } from '../../verdicts/investigation/score.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { retryDelayMs, type RunFailure, toRunFailure } from '../run-model/run-failure.ts';
import { addWarning, setWarning, type SuppressedCounts } from '../run-model/run-progress.ts';
import type { Fallback, Judge, Judgment } from './judge.ts';
import type { Resolution } from './resolutions/resolve-candidates.ts';

/** After this many failures in a row that may pass, the judge counts as unavailable. */
const failuresInRowMax = 3;

/** The judging of one attempt of a run, over all its windows. */
export type JudgingSession = {
  judge: Judge;
  signal: AbortSignal;
  /** Candidates that wait for the next attempt, because the judge failed in a way that may pass. */
  waitingIds: Set<string>;
  /** Suppression keys of those candidates. Later candidates with the same key wait too, so that the order stays the same. */
  waitingKeys: Set<string>;
  failuresInRow: number;
  /** The latest failure that may pass. */
  waitingError: unknown;
  /** Set when the judge must not be asked again in this attempt. */
  stop: JudgingStop | null;
};

/** `fallback` raises all remaining candidates from their facts. If it is null, they wait for the next attempt. */
export type JudgingStop = { error: unknown; fallback: Fallback | null };

export function startJudging(judge: Judge, signal: AbortSignal): JudgingSession {
  return {
    judge,
    signal,
    waitingIds: new Set(),
    waitingKeys: new Set(),
    failuresInRow: 0,
    waitingError: undefined,
    stop: null,
  };
}

/** Returns whether an error ends the judging of every candidate: the run was lost or cancelled, or the process stops. */
function endsJudging(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof RunLostError || error instanceof RunCancelledError;
}

/**
 * Records that the judge failed on a candidate. A failure that cannot pass, such as a rejected key or an exhausted budget, stops
 * the judge and raises the remaining candidates from their facts. Otherwise the candidate waits for the next attempt.
 */
function recordJudgeFailure(
  session: JudgingSession,
  candidate: { id: string; key: string | null },
  error: unknown,
): void {
  const failure = toRunFailure(error);
  if (!failure.retryable) {
    session.stop ??= { error, fallback: toFallback(failure, false) };
    return;
  }
  session.waitingIds.add(candidate.id);
  if (candidate.key !== null) session.waitingKeys.add(candidate.key);
  session.waitingError = error;
  session.failuresInRow += 1;
  if (session.failuresInRow >= failuresInRowMax) session.stop ??= { error, fallback: null };
}

export const toFallback = ({ kind, message }: RunFailure, isFinal: boolean): Fallback => ({
  reason: kind,
  message,
  isFinal,
});

/**
 * Decides about candidates that still wait when all windows are examined. Returns how they are raised from their facts, or null
 * if they wait for the run's next attempt. If the judge responds, the failure is due to the candidates. They get one more attempt.
 * A judge that does not respond gets all attempts that the run has.
 */
export async function resolveWaiting(run: ActiveRun, session: JudgingSession): Promise<Fallback | null> {
  const failure = toRunFailure(session.waitingError);
  const { retries } = run.claim;
  if (retryDelayMs(failure, retries) === undefined) return toFallback(failure, false);
  const isLocalFailure = retries > 0 && (await session.judge.responds?.(session.signal)) === true;
  return isLocalFailure ? toFallback(failure, true) : null;
}

/** Returns the error that must end the run, although all its candidates are judged or raised: the judge needs attention. */
export function findJudgeFailure({ stop }: JudgingSession): unknown {
  return isBudgetExceeded(stop?.error) ? undefined : stop?.error;
}

type OpenCandidate = { id: string; key: string | null };

/** Asks the judge about a candidate. Returns the function that stores the verdict. */
type JudgeOne<T> = (candidate: T, signal: AbortSignal) => Promise<() => Promise<void>>;

/**
 * Judges candidates side by side, as many as the judge allows, in their order. The first candidate is judged alone, so that the others find its
 * prompt in the provider's cache, and a judge that rejects every call is called once. A failure of the judge is recorded in the session. Any
 * other error, such as a lost run, aborts the calls in progress and is thrown.
 */
export async function judgeSideBySide<T extends OpenCandidate>(
  session: JudgingSession,
  candidates: readonly T[],
  judgeOne: JudgeOne<T>,
): Promise<void> {
  const controller = new AbortController();
  const signal = AbortSignal.any([session.signal, controller.signal]);
  let fatal: { error: unknown } | undefined;
  // Verdicts are stored one after the other, because each transaction stores the progress of the run.
  let lastStored = Promise.resolve();
  let next = 0;
  const judgeNext = async (): Promise<boolean> => {
    const candidate = fatal || session.stop ? undefined : candidates[next++];
    if (!candidate) return false;
    try {
      const storeVerdict = await judgeOne(candidate, signal);
      session.failuresInRow = 0;
      lastStored = lastStored.then(storeVerdict);
      await lastStored.catch((error: unknown) => {
        fatal ??= { error };
        throw error;
      });
    } catch (error) {
      if (!fatal && !endsJudging(error, signal)) recordJudgeFailure(session, candidate, error);
      else {
        fatal ??= { error };
        controller.abort(fatal.error);
      }
    }
    return true;
  };
  const judgeRest = async (): Promise<void> => {
    while (await judgeNext());
  };
  await judgeNext();
  await Promise.all(Array.from({ length: session.judge.entitiesAtOnce ?? 1 }, judgeRest));
  if (fatal) throw fatal.error;
}

const entitiesMax = 200;

/** Adds stored resolutions to the results of a run. `fallback` says why verdicts came from the facts. */
export function addToProgress(run: ActiveRun, resolutions: Resolution[], fallback: Fallback | null): void {
  addSuppressed(run.progress.suppressed, resolutions);
  for (const resolution of resolutions)
    if (resolution.outcome === 'judged') addVerdict(run, resolution, resolution.candidate.id);
  if (fallback) warnAboutFallback(run, fallback);
}

/** Counts the candidates that were not judged. */
export function addSuppressed(suppressed: SuppressedCounts, resolutions: readonly Resolution[]): void {
  for (const resolution of resolutions) {
    switch (resolution.outcome) {
      case 'excepted':
        suppressed[resolution.by === 'snooze' ? 'snoozed' : 'exceptions'] += 1;
        break;
      case 'allowed':
        suppressed.allowed += 1;
        break;
      case 'negative':
      case 'occurrence':
        suppressed.known += 1;
        break;
      case 'judged':
        break;
    }
  }
}

/** Adds a verdict to the results of a run, with the candidate that it is about. Verdicts of the analyst do not count for the score of a model. */
export function addVerdict(
  { progress }: ActiveRun,
  { fallback, verdict, trace }: Judgment,
  candidateId?: string,
): void {
  if (fallback) progress.judging.unjudged += 1;
  else if (trace) progress.judging = addStats(progress.judging, countInvestigation({ verdict, trace }));
  if (progress.entities.length < entitiesMax)
    progress.entities.push({
      ...verdict,
      ...(candidateId !== undefined && { candidateId }),
      ...(fallback && { unjudgedReason: fallback.reason }),
    });
  if (verdict.claims.some(({ status }) => status === 'unproven'))
    addWarning(
      progress,
      'claims_unproven',
      'Claims of a verdict are not proven by what they cite. They are shown struck through.',
    );
}

/** Warns that candidates were raised from their facts, with their number so far. */
export function warnAboutFallback({ progress }: ActiveRun, { message, isFinal }: Fallback): void {
  const { unjudged } = progress.judging;
  const raised = unjudged === 1 ? '1 candidate was' : `${unjudged} candidates were`;
  const later = isFinal ? '' : ' Later runs ask the model again.';
  setWarning(
    progress,
    'raised_unjudged',
    `${raised} raised from the facts without a verdict of the model. Latest reason: ${message.slice(0, 500)}${later}`,
  );
}
