import type { DetectionCategory } from '../../../detection/analysis/candidate.ts';
import type { LogKind, LogShape } from '../drafting/log-kinds.ts';

/** The parts of an event by name. A string is short for the main part of the log kind. */
export type EventSample = string | Record<string, string | number>;

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
  /** Regular expressions (RE2) that parts in lower case must match. */
  where: Record<string, string>;
  /** Regular expressions that parts in lower case must not match. */
  except?: Record<string, string>;
  /** Turns the query into a count per entity. */
  having?: (sql: (part: string) => string, shape: LogShape) => { columns: string; condition: string };
  /** Benign causes, for the system prompt. */
  benign: string;
  /** Events that the query finds. Each has its own entity unless the sample sets one. */
  match: readonly EventSample[];
  /** Similar events that the query does not find. */
  noMatch: readonly EventSample[];
};
