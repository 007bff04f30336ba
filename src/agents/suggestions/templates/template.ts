import type { DetectionCategory } from '../../../detection/analysis/candidate.ts';
import type { LogKind } from '../log-kinds.ts';

/** The parts of an event by name. A string is short for the main part of the log kind. */
export type EventSample = string | Record<string, string | number>;

/** Counts per entity, or other columns to group by. Without a condition every group counts. */
export type Grouping = { columns: string; condition?: string };
type Having = (sql: (part: string) => string) => Grouping;

/** A query for a technique that can be compiled for any dataset with logs of one kind. */
export type QueryTemplate = {
  id: string;
  techniques: readonly string[];
  name: string;
  kind: LogKind;
  /** Required parts besides the main one. */
  needs?: readonly string[];
  category?: DetectionCategory;
  severity: 'low' | 'medium' | 'high' | 'critical';
  /** Regular expressions (RE2) that parts in lower case must match. A string is short for the main part of the log kind. */
  where: string | Record<string, string>;
  /** Regular expressions that parts in lower case must not match. */
  except?: Record<string, string>;
  /** Turns the query into a count per entity. */
  having?: Having;
  /** Benign causes, for the system prompt. */
  benign: string;
  /** Events that the query finds. Each has its own entity unless the sample sets one. */
  match: readonly EventSample[];
  /** Similar events that the query does not find. */
  noMatch: readonly EventSample[];
};

/** Keeps entities with at least `min` different values of a part. */
export const havingDistinct =
  (part: string, min: number): Having =>
  (sql) => ({ columns: `count(DISTINCT ${sql(part)}) AS count`, condition: `count(DISTINCT ${sql(part)}) >= ${min}` });
