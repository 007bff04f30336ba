import { isUnusableAnswer, ModelError } from '../../../platform/models/model-error.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { StoredCandidate } from './candidates.store.ts';
import { createAnalystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { DecidedVerdict } from '../../verdicts/claims/decide-verdict.ts';
import type { DetectionTexts } from '../../verdicts/verdict.ts';
import type { InvestigationTrace } from '../../verdicts/investigation/investigate.ts';
import type { Observation } from '../../verdicts/observation.ts';

/** A checked verdict with the observations that it cites. `trace` is null for the built-in analyst. */
export type Judged = DecidedVerdict & { observations: Observation[]; trace: InvestigationTrace | null };

/** A case for a judge. Candidates that are not stored, and the cases of response agents, have no ID. */
export type OpenCase = Candidate & Partial<Pick<StoredCandidate, 'id'>>;

/** Returns what the steps of a case are stored with. */
export const aboutCase = ({ id }: OpenCase): { candidateId?: string } => (id === undefined ? {} : { candidateId: id });

/**
 * Judges candidates. `instant`: verdicts are free, so whole batches are judged and stored together. Otherwise up to `entitiesAtOnce` (default 1)
 * candidates are judged side by side, and each verdict is stored as it comes. `responds` reports whether the judge responds, which distinguishes an
 * outage from a candidate that makes it fail. Without it, every temporary failure counts as an outage.
 */
export type Judge = {
  model: string;
  instant: boolean;
  entitiesAtOnce?: number;
  judge: (candidate: OpenCase, signal: AbortSignal) => Promise<Judged>;
  responds?: (signal: AbortSignal) => Promise<boolean>;
};

/** Creates the built-in analyst, which uses no language model. */
export const createAnalyst = (detection: DetectionTexts): Judge => ({
  model: 'analyst',
  instant: true,
  judge: (candidate) => Promise.resolve(judgeAsAnalyst(candidate, detection)),
});

export const judgeAsAnalyst = (candidate: Candidate, detection: DetectionTexts): Judged => ({
  verdict: createAnalystVerdict(candidate, detection),
  modelDisagrees: null,
  observations: [],
  trace: null,
});

/** A verdict on a candidate. `fallback` is null if the judge gave it. Otherwise it comes from the facts, as the built-in analyst reads them. */
export type Judgment = Judged & { fallback: Fallback | null };

/** Why the judge gave no verdict. `reason` is a kind of failure. `isFinal` means that no later run asks the judge again. */
export type Fallback = { reason: string; message: string; isFinal: boolean };

/** Judges a candidate of a detection. A failure that concerns this candidate alone falls back to its facts. Throws any other failure. */
export async function judgeCandidate(
  judge: Judge,
  candidate: OpenCase,
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
