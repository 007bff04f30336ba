import type { DetectionCategory } from '../../../detection/analysis/candidate.ts';
import type { LogKind, Shape } from '../drafting/log-datasets.ts';

/** Parts of an event by name; a text stands for the main part of the kind. */
export type Sample = string | Record<string, string | number>;

/**
 * A query for a technique over whatever dataset holds logs of a kind. `where`: expressions (RE2) that the lower-cased parts must
 * match; `except`: none of these. `having` makes it a count by entity instead. `match` are events it finds, each of an entity of its
 * own unless the sample names one, `noMatch` such that look alike.
 */
export type Template = {
  id: string;
  techniques: readonly string[];
  name: string;
  kind: LogKind;
  /** Parts that the query cannot do without, besides the main one. */
  needs?: readonly string[];
  category?: DetectionCategory;
  severity: 'low' | 'medium' | 'high' | 'critical';
  where: Record<string, string>;
  except?: Record<string, string>;
  having?: (sql: (part: string) => string, shape: Shape) => { columns: string; condition: string };
  benign: string;
  match: readonly Sample[];
  noMatch: readonly Sample[];
};
