import type { Severity } from '../analysis/candidate.ts';

export type VerdictEvidence = { rowId: string; field: string; value: string; why: string };

/** A judge's verdict on one entity. `confidence` is 0-100. `output` follows the detection's own schema and is not verified. */
export type Verdict = {
  entity: string;
  entityType: string;
  triggered: boolean;
  confidence: number;
  severity: Severity;
  headline: string;
  summary: string;
  evidence: VerdictEvidence[];
  nextStep: string;
  output?: unknown;
  /** Sources outside the organization that the judge read besides the rows: `feed`, or names of tools. Absent if there were none. */
  outsideContext?: string[];
  trace?: VerdictTrace;
};

/**
 * How a model reached its verdict, for the score. `repaired` means that its first verdict had a wrong form, `recited` that its first
 * evidence was not in the rows. `instructions` counts row fields with text that seems addressed to a model.
 */
export type VerdictTrace = {
  repaired: boolean;
  recited: boolean;
  toolCalls: number;
  toolFaults: number;
  instructions: number;
  /** Tools whose results contained text addressed to a model. */
  plantedTools?: string[];
  /** What the model read besides the rows that the organization did not write: `feed`, or names of tools. */
  outside?: string[];
  /** Set if the model did not come to its dismissal, or to a severity below that of the facts, without what outsiders wrote. */
  unconfirmed?: Unconfirmed;
};

/** What outsiders wrote that a verdict depends on: `fields` of the rows with free text, and other `context` as in `VerdictTrace.outside`. */
export type Unconfirmed = { fields: string[]; context: string[] };
