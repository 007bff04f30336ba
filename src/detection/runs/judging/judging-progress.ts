import { addStats, countInvestigation } from '../../verdicts/investigation/score.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { addWarning, setWarning, type SuppressedCounts } from '../run-model/run-progress.ts';
import type { Fallback, Judgment } from './judge.ts';
import type { Resolution } from './resolutions/resolve-candidates.ts';

const entitiesMax = 200;

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

/** Adds a verdict to the results of a run. Verdicts of the analyst do not count for the score of a model. */
export function addVerdict({ progress }: ActiveRun, { fallback, verdict, trace }: Judgment): void {
  if (fallback) progress.judging.unjudged += 1;
  else if (trace) progress.judging = addStats(progress.judging, countInvestigation({ verdict, trace }));
  if (progress.entities.length < entitiesMax)
    progress.entities.push(fallback ? { ...verdict, unjudgedReason: fallback.reason } : verdict);
  if (verdict.claims.some(({ status }) => status === 'unproven'))
    addWarning(
      progress,
      'claims_unproven',
      'Claims of a verdict are not proven by what they cite. They are shown struck through.',
    );
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
