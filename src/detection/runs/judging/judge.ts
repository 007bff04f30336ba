import type { Candidate } from '../../analysis/candidate.ts';
import { createAnalystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { DetectionTexts } from '../../verdicts/detection-texts.ts';
import type { Verdict } from '../../verdicts/verdict.ts';

/**
 * Judges candidates. `instant`: verdicts are free, so whole batches are judged and stored together. Otherwise up to `entitiesAtOnce` (default 1)
 * candidates are judged side by side, and each verdict is stored as it comes. `responds` reports whether the judge responds, which distinguishes an
 * outage from a candidate that makes it fail. Without it, every temporary failure counts as an outage.
 */
export type Judge = {
  model: string;
  instant: boolean;
  entitiesAtOnce?: number;
  judge: (candidate: Candidate, signal: AbortSignal) => Promise<Verdict>;
  responds?: (signal: AbortSignal) => Promise<boolean>;
  /** Judges several small candidates in one call where the budget is tight. */
  together?: {
    /** Returns how many of the first candidates to judge in one call. `pending` counts all candidates that need a verdict. */
    count: (candidates: readonly Candidate[], pending: number) => number;
    /** Returns the verdicts in the same order. Candidates without one have to be judged alone. */
    judge: (candidates: readonly Candidate[], signal: AbortSignal) => Promise<(Verdict | undefined)[]>;
  };
};

/** Creates the built-in analyst, which uses no language model. */
export function createAnalyst(detection: DetectionTexts): Judge {
  return {
    model: 'analyst',
    instant: true,
    judge: (candidate) => Promise.resolve(createAnalystVerdict(candidate, detection)),
  };
}
