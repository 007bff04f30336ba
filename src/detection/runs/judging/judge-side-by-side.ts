import { ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { isCandidateFailure } from './judgment.ts';
import { endsJudging, recordJudgeFailure, type JudgingSession } from './judging-session.ts';

type OpenCandidate = { id: string; key: string | null; candidate: Candidate };

/** Asks the judge, unless a call about several candidates has given the verdict. Returns the function that stores it. */
type JudgeOne<T> = (candidate: T, signal: AbortSignal, verdict?: Verdict) => Promise<() => Promise<void>>;

/**
 * Judges candidates side by side, as many as the judge allows, in their order. The first candidate is judged alone, so that the others find its prompt in the provider's cache, and
 * a judge that rejects every call is called once. A failure of the judge is recorded in the session. Any other error, such as a
 * lost run, aborts the calls in progress and is thrown.
 */
export async function judgeSideBySide<T extends OpenCandidate>(
  session: JudgingSession,
  candidates: readonly T[],
  judgeOne: JudgeOne<T>,
): Promise<void> {
  const queue = [...candidates];
  const controller = new AbortController();
  const signal = AbortSignal.any([session.signal, controller.signal]);
  let fatal: { error: unknown } | undefined;
  // Verdicts are stored one after the other, because each transaction stores the progress of the run.
  let lastStored = Promise.resolve();

  const run = async (candidates: T[], work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (fatal || endsJudging(error, signal)) {
        fatal ??= { error };
        controller.abort(fatal.error);
      } else for (const candidate of candidates) recordJudgeFailure(session, candidate, error);
    }
  };
  const judgeAlone = (candidate: T, verdict?: Verdict): Promise<void> =>
    run([candidate], async () => {
      const storeVerdict = await judgeOne(candidate, signal, verdict);
      session.failuresInRow = 0;
      lastStored = lastStored.then(storeVerdict);
      await lastStored.catch((error: unknown) => {
        fatal ??= { error };
        throw error;
      });
    });
  const judgeNext = async (candidates: T[]): Promise<void> => {
    let verdicts: (Verdict | undefined)[] = [];
    if (candidates.length > 1)
      await run(candidates, async () => {
        verdicts = await judgeSeveral(session, candidates, signal);
      });
    for (const [index, candidate] of candidates.entries())
      if (verdicts[index] || mayJudge(candidate)) await judgeAlone(candidate, verdicts[index]);
  };
  // A call about several candidates that failed has recorded its candidates as waiting, or has stopped the judge.
  const mayJudge = ({ id }: T): boolean => !fatal && !session.stop && !session.waitingIds.has(id);
  const takeNext = (): T[] => {
    if (fatal || session.stop) return [];
    const count =
      session.judge.together?.count(
        queue.map(({ candidate }) => candidate),
        session.pending,
      ) ?? 1;
    return queue.splice(0, Math.max(1, count));
  };
  const judgeRest = async (): Promise<void> => {
    for (let next = takeNext(); next.length > 0; next = takeNext()) await judgeNext(next);
  };

  await judgeNext(takeNext());
  await Promise.all(Array.from({ length: session.judge.entitiesAtOnce ?? 1 }, judgeRest));
  if (fatal) throw (fatal as { error: unknown }).error;
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
