import type { Candidate, Facts } from '../../analysis/candidate.ts';
import { createNeedsReview, describeNeedsReview } from '../planted-text/needs-review.ts';
import { screenCandidate } from '../planted-text/screen-candidate.ts';
import { selectEvidence } from './evidence.ts';
import type { DetectionTexts } from '../detection-texts.ts';
import type { Verdict } from '../verdict.ts';
import { describeCandidate } from './wording.ts';

/**
 * Creates the verdict of the built-in analyst, which uses no language model. Every candidate triggers, with severity and confidence
 * from its facts. Fields with text addressed to a model are neither quoted nor evidence. `needsReview` is known if tools ran.
 */
export function createAnalystVerdict(
  candidate: Candidate,
  detection: DetectionTexts,
  needsReview = createNeedsReview(screenCandidate(candidate).planted, []),
): Verdict {
  const { entity, entityType, severity } = candidate;
  const { quotable } = screenCandidate(candidate);
  const wording = describeCandidate(quotable, detection);
  const summary = needsReview ? `${wording.summary} ${describeNeedsReview(needsReview)}` : wording.summary;
  return {
    entity,
    entityType,
    triggered: true,
    confidence: computeAnalystConfidence(candidate),
    severity,
    ...wording,
    summary,
    evidence: selectEvidence(quotable),
  };
}

/** Computes the analyst's confidence from the facts, 0-100. docs/reference/analysis.md lists the rules. */
function computeAnalystConfidence({ kind, facts }: Candidate): number {
  const rules = {
    baseline_anomaly: () =>
      45 + Math.min(40, 4 * (readNumber(facts, 'z') - 3.5)) + (facts['enoughPast'] === true ? 5 : -15),
    first_occurrence: () =>
      50 +
      Math.min(20, readNumber(facts, 'entityWindows')) +
      (facts['otherEntities'] === 0 ? 15 : 0) -
      (facts['enoughPast'] === true ? 0 : 20),
    sequence_pattern: () => 50 + 10 * readNumber(facts, 'steps'),
    privilege_escalation: () => 70,
    custom: () => 60,
  };
  const authorBonus = facts['authorSeverity'] === undefined ? 0 : 5;
  return Math.round(Math.min(95, Math.max(10, rules[kind]() + authorBonus)));
}

function readNumber(facts: Facts, name: string): number {
  const value = facts[name];
  return typeof value === 'number' ? value : 0;
}
