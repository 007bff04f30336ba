import type { Severity } from '../analysis/candidate.ts';

export type Evidence = { rowId: string; field: string; value: string; why: string };

/** What a judge says about one entity. `confidence` 0-100; `output` is what a detection's own schema asks for, unverified. */
export type Verdict = {
  entity: string;
  entityType: string;
  triggered: boolean;
  confidence: number;
  severity: Severity;
  headline: string;
  summary: string;
  evidence: Evidence[];
  nextStep: string;
  output?: unknown;
  trace?: VerdictTrace;
};

/** How a model came to its verdict, for the score. `instructions`: fields of the rows that read as if meant for a model. */
export type VerdictTrace = { repaired: boolean; toolCalls: number; toolFaults: number; instructions: number };
