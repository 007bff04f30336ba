import type { JudgingFigures } from '../../verdicts/model/model-score.ts';
import type { Decision } from './resolve-candidates.ts';

const evidenceMax = 20;

/** Counts what a verdict of a model says of the model; one by the analyst or from the facts counts for nothing. */
export function noteJudging(figures: JudgingFigures, decision: Decision): void {
  if (decision.outcome !== 'judged' || !decision.given.trace) return;
  const { given, verified } = decision;
  const { repaired, toolCalls, toolFaults, instructions } = decision.given.trace;
  const sentences = verified.struck.filter(({ where }) => where !== 'evidence').length;
  figures.verdicts += 1;
  figures.cited += Math.min(given.evidence.length, evidenceMax) + sentences;
  figures.struck += verified.struck.length;
  figures.repaired += repaired ? 1 : 0;
  figures.toolCalls += toolCalls;
  figures.toolFaults += toolFaults;
  if (instructions === 0) return;
  figures.instructed += 1;
  if (verified.struck.length > 0 || toolFaults > 0 || verified.modelDisagrees !== null) figures.followed += 1;
}
