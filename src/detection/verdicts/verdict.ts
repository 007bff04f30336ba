import type { Severity } from '../analysis/candidate.ts';

/** The texts of a detection's author that verdicts use. `headline` is a template. `customInstructions` come from the request of a run. */
export type DetectionTexts = {
  name: string;
  description: string;
  systemPrompt: string;
  headline?: string | null;
  customInstructions?: string | null;
  contextDocs?: readonly { content?: string | undefined }[];
};

/** What an investigation concludes. */
export type Conclusion = 'raise' | 'dismiss' | 'undecided';

/**
 * What a claim refers to: a cell of a row or a figure of an aggregate in an observation (`rows` is the candidate's own, `o1` the first of the
 * investigation), a computed fact, an earlier hit, a note, an entry of a value list, a passage of a document of the author, or one of a feed item.
 */
export type Citation =
  | { observation: string; rowId: string; field: string; value: string }
  | { observation: string; column: string; value: string }
  | { fact: string }
  | { hit: string }
  | { note: string }
  | { list: string; entry: string }
  | { document: string; quote: string }
  | { item: string; quote: string };

/** One sentence of a verdict with its citations. An assessment is a judgment that nothing can prove. */
export type Claim = { text: string; kind: 'fact' | 'assessment'; cites: Citation[] };

/**
 * How far a claim is proven. `cited`: its citations resolve, and every value in it stands there. `supported`: a second look at the claim and the
 * cited cells alone confirmed it. `unproven`: shown with its `reason`, proves nothing. `assessment`: claims no fact. A claim that should have been verified
 * and could not be is `cited` with a `reason`.
 */
export type ClaimStatus = 'supported' | 'cited' | 'unproven' | 'assessment';
export type CheckedClaim = Claim & { status: ClaimStatus; reason: string | null };

/** Returns whether nobody could verify a claim because a budget was used up. It proves nothing then. */
export const isUnverified = ({ status, reason }: CheckedClaim): boolean => status === 'cited' && reason !== null;

/** What a model submits. */
export type Submission = {
  verdict: Conclusion;
  severity: Severity;
  /** 0-100, in the verdict that is given. */
  confidence: number;
  headline: string;
  claims: Claim[];
  techniques: string[];
  nextSteps: string[];
  /** What the author's own schema asks for. Not verified. */
  output?: unknown;
};

/**
 * A citation of a fact, as hits show it. `observation` is where it stands: `rows`, `o1`, …, or `fact`, `hit`, `note`, `list`, `document` or `item`.
 * `rowId` is then the ID or name there, and `field` what is cited of it. `why` is the claim.
 */
export type VerdictEvidence = { observation: string; rowId: string; field: string; value: string; why: string };

/** A checked verdict on one entity. `summary` is the text of its claims that stand. `triggered`: it is a hit. `confidence` is 0-100. */
export type Verdict = {
  entity: string;
  entityType: string;
  verdict: Conclusion;
  triggered: boolean;
  confidence: number;
  severity: Severity;
  headline: string;
  summary: string;
  claims: CheckedClaim[];
  evidence: VerdictEvidence[];
  techniques: string[];
  nextStep: string;
  /** What has to be found out before the case can be decided. Null for a verdict that decides it. */
  openQuestion: string | null;
  output?: unknown;
};
