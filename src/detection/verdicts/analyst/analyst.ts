import type { Candidate, Facts } from '../../analysis/candidate.ts';
import { getCategory } from '../../analysis/registry.ts';
import { findRuleCell } from '../../analysis/severity-rules.ts';
import { readList } from '../../analysis/wording.ts';
import { containsWhole, normalizeText } from '../claims/stated-values.ts';
import type { CheckedClaim, Citation, DetectionTexts, Verdict, VerdictEvidence } from '../verdict.ts';
import { selectEvidence } from './evidence.ts';
import { describeCandidate } from './wording.ts';

/**
 * Creates the verdict of the built-in analyst, which uses no language model. Every candidate triggers, with severity and confidence from its facts. Its
 * claims cite the rows and facts that they state, so that they are `cited`.
 */
export function createAnalystVerdict(candidate: Candidate, detection: DetectionTexts): Verdict {
  const { entity, entityType, severity, facts } = candidate;
  const { headline, sentences, nextStep } = describeCandidate(candidate, detection);
  const selected = selectEvidence(candidate);
  const rule = findRuleCell(candidate);
  const claims = sentences.map((text, index) => toClaim(text, index === 0 ? selected : [], facts));
  if (rule) claims.push(toClaim(rule.why, [rule], facts));
  return {
    entity,
    entityType,
    verdict: 'raise',
    triggered: true,
    confidence: computeAnalystConfidence(candidate),
    severity,
    headline,
    summary: claims.map(({ text }) => text).join(' '),
    claims,
    evidence: rule ? [...selected, rule] : selected,
    techniques: readList(facts, 'techniques'),
    nextStep,
    openQuestion: null,
  };
}

/** Returns a sentence as a claim that cites the evidence and the facts whose values it states. One that states none is an assessment. */
function toClaim(text: string, evidence: readonly VerdictEvidence[], facts: Facts): CheckedClaim {
  const stated = normalizeText(text);
  const states = (value: string): boolean => value !== '' && containsWhole({ text: stated }, normalizeText(value));
  const cites: Citation[] = [
    ...evidence.map(({ observation, rowId, field, value }) => ({ observation, rowId, field, value })),
    ...Object.entries(facts).flatMap(([fact, value]) => ([value].flat().map(String).some(states) ? [{ fact }] : [])),
  ];
  const isFact = cites.length > 0;
  return { text, kind: isFact ? 'fact' : 'assessment', cites, status: isFact ? 'cited' : 'assessment', reason: null };
}

/** Computes the analyst's confidence from the facts, 10-95. docs/reference/analysis.md lists the rules. */
export function computeAnalystConfidence({ kind, facts }: Candidate): number {
  const authorBonus = facts['authorSeverity'] === undefined ? 0 : 5;
  return Math.round(Math.min(95, Math.max(10, getCategory(kind).confidence(facts) + authorBonus)));
}
