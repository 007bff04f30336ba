import { analystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import type { Candidate } from '../../analysis/candidate.ts';

/** Gives a verdict on one candidate. `instant`: it costs nothing, so its verdicts need not be kept one by one. */
export type Judge = {
  model: string;
  instant: boolean;
  judge: (candidate: Candidate, signal: AbortSignal) => Promise<Verdict>;
};

export const analyst: Judge = {
  model: 'analyst',
  instant: true,
  judge: (candidate) => Promise.resolve(analystVerdict(candidate)),
};
