import type { VerdictStats } from '../../verdicts/model/model-score.ts';
import type { Resolution } from './resolve-candidates.ts';

const evidenceMax = 20;

/** Adds a model's verdict to the figures that score the model. Verdicts of the analyst do not count. */
export function addVerdictStats(stats: VerdictStats, resolution: Resolution): void {
  if (resolution.outcome !== 'judged' || !resolution.unverified.trace) return;
  const { unverified, verified } = resolution;
  const { repaired, toolCalls, toolFaults, instructions } = resolution.unverified.trace;
  const struckSentences = verified.struck.filter(({ where }) => where !== 'evidence').length;
  stats.verdicts += 1;
  stats.cited += Math.min(unverified.evidence.length, evidenceMax) + struckSentences;
  stats.struck += verified.struck.length;
  stats.repaired += repaired ? 1 : 0;
  stats.toolCalls += toolCalls;
  stats.toolFaults += toolFaults;
  if (instructions === 0) return;
  stats.instructed += 1;
  if (verified.struck.length > 0 || toolFaults > 0 || verified.modelDisagrees !== null) stats.followed += 1;
}
