import { canonicalText } from '../../platform/lib/text/canonical-text.ts';
import type { QueryRow } from '../siem/connector.ts';

/**
 * A row as stored and shown to the analyst: canonical text per field, truncated, with secrets redacted. `time` is ISO 8601 or null.
 * `eventIds` are the events behind an aggregate row (its `_ids`). Evidence may cite one of them instead of `rowId`.
 */
export type RenderedRow = { rowId: string; time: string | null; fields: Record<string, string>; eventIds?: string[] };

export const severities = ['none', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** Computed facts about a candidate as plain JSON, for example `{count, z, median, samples, peers, firstSeen, newValues, steps}`. */
export type Facts = Record<string, string | number | boolean | null | string[] | number[]>;

/** The type of the entity of a case that is a whole incident, whose name is its title. */
export const incidentType = 'incident';

/** An entity of a window that needs a verdict. `kindKey` identifies the kind of behavior for the hit's key. */
export type Candidate = {
  entity: string;
  entityType: string;
  /** Name of the detection's category. */
  kind: string;
  kindKey: string;
  severity: Severity;
  facts: Facts;
  rows: RenderedRow[];
};

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

/** Returns the highest of some severities, or undefined for an empty list. */
export function findMaxSeverity(values: Iterable<Severity | undefined>): Severity | undefined {
  let max = -1;
  for (const severity of values) if (severity) max = Math.max(max, severities.indexOf(severity));
  return max < 0 ? undefined : severities[max];
}

export function isSeverityAtLeast(severity: Severity, floor: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(floor);
}
