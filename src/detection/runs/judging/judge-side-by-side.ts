import { ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { isCandidateFailure } from './judgment.ts';
import { endsJudging, recordJudgeFailure, type JudgingSession } from './judging-session.ts';

type OpenCandidate = { id: string; key: string | null; candidate: Candidate };

/** Asks the judge, unless a call about several candidates has given the verdict. Returns the function that stores it. */
type JudgeOne<T> = (candidate: T, signal: AbortSignal, verdict?: Verdict) => Promise<() => Promise<void>>;

/** Candidates that are being judged. `signal` ends the calls in progress when `controller` or the session is aborted. */
type SideBySide<T> = {
  session: JudgingSession;
  queue: T[];
  judgeOne: JudgeOne<T>;
  controller: AbortController;
  signal: AbortSignal;
  /** The error that ends the judging. */
  fatal: { error: unknown } | undefined;
  /** Verdicts are stored one after the other, because each transaction stores the progress of the run. */
  lastStored: Promise<void>;
};

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
  const state: SideBySide<T> = {
    session,
    queue: [...candidates],
    judgeOne,
    controller,
    signal: AbortSignal.any([session.signal, controller.signal]),
    fatal: undefined,
    lastStored: Promise.resolve(),
  };
  await judgeGroup(state, takeNext(state));
  await Promise.all(Array.from({ length: session.judge.entitiesAtOnce ?? 1 }, () => judgeRest(state)));
  if (state.fatal) throw state.fatal.error;
}

async function judgeRest<T extends OpenCandidate>(state: SideBySide<T>): Promise<void> {
  for (let next = takeNext(state); next.length > 0; next = takeNext(state)) await judgeGroup(state, next);
}

/** Takes the next candidates from the queue: as many as the judge can judge in one call, but at least one. */
function takeNext<T extends OpenCandidate>({ session, queue, fatal }: SideBySide<T>): T[] {
  if (fatal || session.stop) return [];
  const waiting = queue.map(({ candidate }) => candidate);
  const count = session.judge.together?.count(waiting, session.pending) ?? 1;
  return queue.splice(0, Math.max(1, count));
}

/** Judges several candidates in one call, and those alone for which that call has no verdict. */
async function judgeGroup<T extends OpenCandidate>(state: SideBySide<T>, candidates: T[]): Promise<void> {
  let verdicts: (Verdict | undefined)[] = [];
  if (candidates.length > 1)
    await recordFailures(state, candidates, async () => {
      verdicts = await judgeSeveral(state.session, candidates, state.signal);
    });
  for (const [index, candidate] of candidates.entries())
    if (verdicts[index] || mayJudge(state, candidate)) await judgeAlone(state, candidate, verdicts[index]);
}

/** A call about several candidates that failed has recorded its candidates as waiting, or has stopped the judge. */
const mayJudge = <T extends OpenCandidate>({ session, fatal }: SideBySide<T>, { id }: T): boolean =>
  !fatal && !session.stop && !session.waitingIds.has(id);

const judgeAlone = <T extends OpenCandidate>(state: SideBySide<T>, candidate: T, verdict?: Verdict): Promise<void> =>
  recordFailures(state, [candidate], async () => {
    const storeVerdict = await state.judgeOne(candidate, state.signal, verdict);
    state.session.failuresInRow = 0;
    state.lastStored = state.lastStored.then(storeVerdict);
    await state.lastStored.catch((error: unknown) => {
      state.fatal ??= { error };
      throw error;
    });
  });

/** Runs `work` about candidates. Records a failure of the judge for each of them, and ends the judging after any other error. */
async function recordFailures<T extends OpenCandidate>(
  state: SideBySide<T>,
  candidates: T[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (state.fatal || endsJudging(error, state.signal)) {
      state.fatal ??= { error };
      state.controller.abort(state.fatal.error);
    } else for (const candidate of candidates) recordJudgeFailure(state.session, candidate, error);
  }
}

/** Returns the verdicts of one call about several candidates, or none if the call failed because of its content. */
async function judgeSeveral(
  { judge }: JudgingSession,
  candidates: OpenCandidate[],
  signal: AbortSignal,
): Promise<(Verdict | undefined)[]> {
  try {
    return await judge.together!.judge(
      candidates.map(({ candidate }) => candidate),
      signal,
    );
  } catch (error) {
    if (error instanceof ModelError && isCandidateFailure(error.failure.kind)) return [];
    throw error;
  }
}
