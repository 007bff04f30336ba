import { endsJudging, recordJudgeFailure, type JudgingSession } from './judging-session.ts';

type OpenCandidate = { id: string; key: string | null };

/**
 * Judges candidates side by side, as many as the judge allows, in their order. `judgeOne` asks the judge and returns the function
 * that stores the verdict. The first candidate is judged alone, so that the others find its prompt in the provider's cache, and
 * a judge that rejects every call is called once. A failure of the judge is recorded in the session. Any other error, such as a
 * lost run, aborts the calls in progress and is thrown.
 */
export async function judgeSideBySide<T extends OpenCandidate>(
  session: JudgingSession,
  candidates: readonly T[],
  judgeOne: (candidate: T, signal: AbortSignal) => Promise<() => Promise<void>>,
): Promise<void> {
  const queue = [...candidates];
  const controller = new AbortController();
  const signal = AbortSignal.any([session.signal, controller.signal]);
  let fatal: { error: unknown } | undefined;
  // Verdicts are stored one after the other, because each transaction stores the progress of the run.
  let lastStored = Promise.resolve();

  const judgeNext = async (candidate: T): Promise<void> => {
    try {
      const storeVerdict = await judgeOne(candidate, signal);
      session.failuresInRow = 0;
      lastStored = lastStored.then(storeVerdict);
      await lastStored.catch((error: unknown) => {
        fatal ??= { error };
        throw error;
      });
    } catch (error) {
      if (!fatal && !endsJudging(error, signal)) return recordJudgeFailure(session, candidate, error);
      fatal ??= { error };
      controller.abort(fatal.error);
    }
  };
  const judgeRest = async (): Promise<void> => {
    for (let next = takeNext(); next; next = takeNext()) await judgeNext(next);
  };
  const takeNext = (): T | undefined => (fatal || session.stop ? undefined : queue.shift());

  const first = takeNext();
  if (first) await judgeNext(first);
  await Promise.all(Array.from({ length: session.judge.entitiesAtOnce ?? 1 }, judgeRest));
  if (fatal) throw fatal.error;
}
