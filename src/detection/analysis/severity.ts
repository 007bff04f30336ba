import type { QueryRow } from '../siem/connector.ts';
import { severities, type Severity } from './candidate.ts';
import { canonicalText } from '../../platform/lib/text/canonical-text.ts';

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
