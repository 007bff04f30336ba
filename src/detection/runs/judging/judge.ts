import type { Candidate } from '../../analysis/candidate.ts';
import { createAnalystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { DetectionTexts } from '../../verdicts/detection-texts.ts';
import type { Verdict } from '../../verdicts/verdict.ts';

/** Judges one candidate. `instant`: verdicts are free, so they are judged in batches and not stored one by one. */
export type Judge = {
  model: string;
  instant: boolean;
  judge: (candidate: Candidate, signal: AbortSignal) => Promise<Verdict>;
};

/** Creates the built-in analyst, which uses no language model. */
export function createAnalyst(detection: DetectionTexts): Judge {
  return {
    model: 'analyst',
    instant: true,
    judge: (candidate) => Promise.resolve(createAnalystVerdict(candidate, detection)),
  };
}
