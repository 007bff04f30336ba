/**
 * A row as stored and shown to the analyst: canonical text per field, truncated, with secrets redacted. `time` is ISO 8601 or null.
 * `eventIds` are the events behind an aggregate row (its `_ids`). Evidence may cite one of them instead of `rowId`.
 */
export type RenderedRow = { rowId: string; time: string | null; fields: Record<string, string>; eventIds?: string[] };

export const severities = ['none', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** Computed facts about a candidate as plain JSON, for example `{count, z, median, samples, peers, firstSeen, newValues, steps}`. */
export type Facts = Record<string, string | number | boolean | null | string[] | number[]>;

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
