import type { Severity } from '../analysis/candidate.ts';

export type Evidence = { rowId: string; field: string; value: string; why: string };

/** What a judge says about one entity. `confidence` 0-100. */
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
};
