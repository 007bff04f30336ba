import { endsJudging, recordJudgeFailure, type JudgingSession } from './judging-session.ts';

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
