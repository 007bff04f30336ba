import type { VerdictStats } from '../../verdicts/model/model-score.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { addWarning, setWarning, type SuppressedCounts } from '../run-model/run-progress.ts';
import type { Fallback, Judgment } from './judgment.ts';
import type { Resolution } from './resolutions/resolve-candidates.ts';

const entitiesMax = 200;
const evidenceMax = 20;

/** Adds stored resolutions to the results of a run. `fallback` says why verdicts came from the facts. */
export function addToProgress(run: ActiveRun, resolutions: Resolution[], fallback: Fallback | null): void {
  addSuppressed(run.progress.suppressed, resolutions);
  for (const resolution of resolutions) if (resolution.outcome === 'judged') addVerdict(run, resolution);
  if (fallback) warnAboutFallback(run, fallback);
}

/** Counts the candidates that were not judged. */
export function addSuppressed(suppressed: SuppressedCounts, resolutions: readonly Resolution[]): void {
  for (const resolution of resolutions) {
    switch (resolution.outcome) {
      case 'excepted':
        suppressed[resolution.by === 'snooze' ? 'snoozed' : 'exceptions'] += 1;
        break;
      case 'allowed':
        suppressed.allowed += 1;
        break;
      case 'negative':
      case 'occurrence':
        suppressed.known += 1;
        break;
      case 'judged':
        break;
    }
  }
}

/** Adds a verdict to the results of a run. */
export function addVerdict({ progress }: ActiveRun, judgment: Judgment): void {
  const { fallback, verified } = judgment;
  if (fallback) progress.judging.unjudged += 1;
  else addVerdictStats(progress.judging, judgment);
  if (progress.entities.length < entitiesMax)
    progress.entities.push(fallback ? { ...verified.verdict, unjudgedReason: fallback.reason } : verified.verdict);
  if (verified.struck.length > 0)
    addWarning(progress, 'claims_struck', 'Parts of a verdict were removed because the rows do not support them.');
}

/** Warns that candidates were raised from their facts, with their number so far. */
export function warnAboutFallback({ progress }: ActiveRun, { message, isFinal }: Fallback): void {
  const { unjudged } = progress.judging;
  const raised = unjudged === 1 ? '1 candidate was' : `${unjudged} candidates were`;
  const later = isFinal ? '' : ' Later runs ask the model again.';
  setWarning(
    progress,
    'raised_unjudged',
    `${raised} raised from the facts without a verdict of the model. Latest reason: ${message.slice(0, 500)}${later}`,
  );
}

/** Adds a model's verdict to the figures that score the model. Verdicts of the analyst do not count. */
function addVerdictStats(stats: VerdictStats, { unverified, verified }: Judgment): void {
  if (!unverified.trace) return;
  const { repaired, recited, toolCalls, toolFaults, instructions } = unverified.trace;
  const struckSentences = verified.struck.filter(({ where }) => where !== 'evidence').length;
  stats.verdicts += 1;
  stats.cited += Math.min(unverified.evidence.length, evidenceMax) + struckSentences;
  stats.struck += verified.struck.length;
  stats.repaired += repaired || recited ? 1 : 0;
  stats.toolCalls += toolCalls;
  stats.toolFaults += toolFaults;
  if (instructions === 0) return;
  stats.instructed += 1;
  if (verified.struck.length > 0 || toolFaults > 0 || verified.modelDisagrees !== null) stats.followed += 1;
}
