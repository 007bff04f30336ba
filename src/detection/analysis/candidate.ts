/**
 * A row as it is rendered for the judge and stored: canonical text per field, secrets redacted, cut. `time` is ISO 8601 or
 * null. `eventIds` are the events that an aggregate row names (its `_ids`); evidence may cite one in place of `rowId`.
 */
export type RenderedRow = { rowId: string; time: string | null; fields: Record<string, string>; eventIds?: string[] };

export const detectionCategories = [
  'baseline_anomaly',
  'first_occurrence',
  'sequence_pattern',
  'privilege_escalation',
  'custom',
] as const;
export type DetectionCategory = (typeof detectionCategories)[number];

export const severities = ['none', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** What code knows of a candidate: plain JSON, e.g. `{count, z, median, samples, peers, firstSeen, newValues, steps}`. */
export type Facts = Record<string, string | number | boolean | null | string[] | number[]>;

/** One entity that a window made worth judging. `kindKey` names the kind without times and counts, as the hit's key needs it. */
export type Candidate = {
  entity: string;
  entityType: string;
  kind: DetectionCategory;
  kindKey: string;
  severity: Severity;
  facts: Facts;
  rows: RenderedRow[];
};
