import type { QueryRow } from '../siem/connector.ts';
import { severities, type Severity } from './candidate.ts';
import { canonicalText } from '../../platform/lib/text/canonical-text.ts';

/** The severity rules, documented in docs/reference/analysis.md. An author's `severity` column overrides them. */
export const severityRules = {
  privilegeEscalation: 'high',
  custom: 'medium',
  firstOccurrence: { news: 'medium', expected: 'low', impossibleTravel: { rare: 'high', common: 'medium' } },
  /** By robust z: the first rule reached applies. At most medium with little history or in comparison with other entities. */
  baseline: [
    { from: 15, severity: 'high' },
    { from: 7, severity: 'medium' },
    { from: 3.5, severity: 'low' },
  ],
  /** By the number of steps: the first rule reached applies. */
  sequence: [
    { from: 5, severity: 'critical' },
    { from: 3, severity: 'high' },
    { from: 2, severity: 'medium' },
    { from: 0, severity: 'low' },
  ],
} as const;

const synonyms: Record<string, Severity> = {
  info: 'none',
  informational: 'none',
  information: 'none',
  moderate: 'medium',
  med: 'medium',
};

/** Returns the severity in a row's `severity` column, which may be one of the five values or a common synonym. */
export function readAuthorSeverity(row: QueryRow): Severity | undefined {
  const word = Object.hasOwn(row, 'severity') ? canonicalText(row['severity'])?.trim().toLowerCase() : undefined;
  if (word === undefined) return undefined;
  if (Object.hasOwn(synonyms, word)) return synonyms[word];
  return severities.find((severity) => severity === word);
}

/** Returns the highest severity, or undefined if there is none. */
export function findMaxSeverity(values: Iterable<Severity | undefined>): Severity | undefined {
  let max = -1;
  for (const severity of values) if (severity) max = Math.max(max, severities.indexOf(severity));
  return max < 0 ? undefined : severities[max];
}

export function isSeverityAtLeast(severity: Severity, floor: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(floor);
}

export function rateBaseline(z: number, hasEnoughPast: boolean): Severity {
  const severity = severityRules.baseline.find((rule) => z >= rule.from)?.severity ?? 'low';
  return hasEnoughPast || severity === 'low' ? severity : 'medium';
}

type Occurrence = { isEntityKnown: boolean; isExpected: boolean; isRare: boolean; isImpossibleTravel: boolean };

/** A move that nobody can make is news even where others often are. */
export function rateFirstOccurrence({ isEntityKnown, isExpected, isRare, isImpossibleTravel }: Occurrence): Severity {
  const { news, expected, impossibleTravel } = severityRules.firstOccurrence;
  if (isImpossibleTravel) return impossibleTravel[isRare ? 'rare' : 'common'];
  return isEntityKnown && !isExpected ? news : expected;
}

export function rateSequence(steps: number): Severity {
  return severityRules.sequence.find((rule) => steps >= rule.from)?.severity ?? 'low';
}
