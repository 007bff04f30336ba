import type { Row } from '../siem/connector.ts';
import { severities, type Severity } from './candidate.ts';
import { canonicalText } from '../../platform/lib/text/canonical-text.ts';

/** The rules of severity, in one place; docs/reference/analysis.md tells them in words. An author's `severity` column goes before them all. */
export const severityRules = {
  privilegeEscalation: 'high',
  custom: 'medium',
  firstOccurrence: { entityKnown: 'medium', entityNew: 'low' },
  /** By robust z, the first that is reached; with little past, or against other entities only, never above medium. */
  baseline: [
    { from: 15, severity: 'high' },
    { from: 7, severity: 'medium' },
    { from: 3.5, severity: 'low' },
  ],
  /** By the number of steps, the first that is reached. */
  sequence: [
    { from: 5, severity: 'critical' },
    { from: 3, severity: 'high' },
    { from: 2, severity: 'medium' },
    { from: 0, severity: 'low' },
  ],
} as const;

const otherWords: Record<string, Severity> = {
  info: 'none',
  informational: 'none',
  information: 'none',
  moderate: 'medium',
  med: 'medium',
};

/** The severity in a row's `severity` column, if it holds one of the five words or a usual other name for one. */
export function authorSeverity(row: Row): Severity | undefined {
  const word = Object.hasOwn(row, 'severity') ? canonicalText(row['severity'])?.trim().toLowerCase() : undefined;
  if (word === undefined) return undefined;
  if (Object.hasOwn(otherWords, word)) return otherWords[word];
  return severities.find((severity) => severity === word);
}

/** The most severe of several; undefined for none. */
export function maxSeverity(found: Iterable<Severity | undefined>): Severity | undefined {
  let max = -1;
  for (const severity of found) if (severity) max = Math.max(max, severities.indexOf(severity));
  return max < 0 ? undefined : severities[max];
}

export function isAtLeast(severity: Severity, floor: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(floor);
}

export function baselineSeverity(z: number, isFirm: boolean): Severity {
  const found = severityRules.baseline.find((rule) => z >= rule.from)?.severity ?? 'low';
  return isFirm || found === 'low' ? found : 'medium';
}

export function sequenceSeverity(steps: number): Severity {
  return severityRules.sequence.find((rule) => steps >= rule.from)?.severity ?? 'low';
}
