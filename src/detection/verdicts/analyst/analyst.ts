import type { Candidate } from '../../analysis/candidate.ts';
import { getCategory } from '../../analysis/registry.ts';
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

/** Computes the analyst's confidence from the facts, 10-95. docs/reference/analysis.md lists the rules. */
function computeAnalystConfidence({ kind, facts }: Candidate): number {
  const authorBonus = facts['authorSeverity'] === undefined ? 0 : 5;
  return Math.round(Math.min(95, Math.max(10, getCategory(kind).confidence(facts) + authorBonus)));
}
