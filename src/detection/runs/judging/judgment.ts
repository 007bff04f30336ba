import { isUnusableAnswer, ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { DetectionTexts } from '../../verdicts/detection-texts.ts';
import { judgeAsAnalyst, type Judge, type Judged } from './judge.ts';

/** A verdict on a candidate. `fallback` is null if the judge gave it. Otherwise it comes from the facts, as the built-in analyst reads them. */
export type Judgment = Judged & { fallback: Fallback | null };

/** Why the judge gave no verdict. `reason` is a kind of failure. `isFinal` means that no later run asks the judge again. */
export type Fallback = { reason: string; message: string; isFinal: boolean };

/** Judges a candidate of a detection. A failure that concerns this candidate alone falls back to its facts. Throws any other failure. */
export async function judgeCandidate(
  judge: Judge,
  candidate: Candidate,
  detection: DetectionTexts,
  signal: AbortSignal,
): Promise<Judgment> {
  signal.throwIfAborted();
  try {
    return { ...(await judge.judge(candidate, signal)), fallback: null };
  } catch (error) {
    if (!(error instanceof ModelError) || !isUnusableAnswer(error.failure)) throw error;
    const { kind: reason, message } = error.failure;
    return judgeByFacts(candidate, detection, { reason, message, isFinal: true });
  }
}

/** Judges a candidate by its facts alone, as the built-in analyst does. */
export const judgeByFacts = (candidate: Candidate, detection: DetectionTexts, fallback: Fallback): Judgment => ({
  ...judgeAsAnalyst(candidate, detection),
  fallback,
});
