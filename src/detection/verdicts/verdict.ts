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
  /** Fields with free text. Without their text, the model did not confirm its dismissal. */
  unconfirmed?: string[];
};
