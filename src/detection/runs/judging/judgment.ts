import { ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { createAnalystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { DetectionTexts } from '../../verdicts/detection-texts.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { verifyVerdict, type VerifiedVerdict } from '../../verdicts/verification/verify-verdict.ts';
import type { Judge } from './judge.ts';

/**
 * A verified verdict on a candidate. `fallback` is null if the judge gave the verdict. Otherwise it comes from the facts, as the
 * built-in analyst reads them.
 */
export type Judgment = { unverified: Verdict; verified: VerifiedVerdict; fallback: Fallback | null };

/** Why the judge gave no verdict. `reason` is a kind of failure. `isFinal` means that no later run asks the judge again. */
export type Fallback = { reason: string; message: string; isFinal: boolean };

const candidateFailures = new Set([
  'invalid_verdict',
  'evidence_not_found',
  'model_refused',
  'model_bad_request',
  'too_many_steps',
]);

/** Returns whether a failure of this kind concerns one candidate: the judge can judge the others, but would fail again on this one. */
export const isCandidateFailure = (kind: string): boolean => candidateFailures.has(kind);

/** Returns the judgment of a verdict that the judge gave. */
export function toJudgment(unverified: Verdict, candidate: Candidate, detection: DetectionTexts): Judgment {
  return { unverified, verified: verifyVerdict(unverified, candidate, detection), fallback: null };
}

/** Judges a candidate of a detection. A failure that concerns this candidate alone falls back to its facts. Throws any other failure. */
export async function judgeCandidate(
  judge: Judge,
  candidate: Candidate,
  detection: DetectionTexts,
  signal: AbortSignal,
): Promise<Judgment> {
  signal.throwIfAborted();
  try {
    return toJudgment(await judge.judge(candidate, signal), candidate, detection);
  } catch (error) {
    if (!(error instanceof ModelError) || !isCandidateFailure(error.failure.kind)) throw error;
    const { kind: reason, message } = error.failure;
    return judgeByFacts(candidate, detection, { reason, message, isFinal: true });
  }
}

/** Judges a candidate by its facts alone, as the built-in analyst does. */
export function judgeByFacts(candidate: Candidate, detection: DetectionTexts, fallback: Fallback): Judgment {
  const unverified = createAnalystVerdict(candidate, detection);
  return { unverified, verified: verifyVerdict(unverified, candidate, detection), fallback };
}
