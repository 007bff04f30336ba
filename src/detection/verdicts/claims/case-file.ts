import type { Candidate, Facts } from '../../analysis/candidate.ts';
import type { Observation } from '../observation.ts';

/** A note of the organization on a value. */
export type CitableNote = { id: string; entity: string; note: string };

/** An earlier hit of the entity, with what people decided. `isReviewed`: a person set its status. */
export type CitableHit = {
  id: string;
  detection: string;
  severity: string;
  status: string;
  isReviewed: boolean;
  reason: string | null;
  lastSeenAt: string;
};

/** An entry of a value list that a value of the rows matches. `row` has the other columns of its row. */
export type CitableEntry = { list: string; entry: string; row?: Record<string, string> };

/** A feed item that mentions a value of the rows. */
export type CitableItem = { id: string; indicator: string; title: string };

/** Everything that a claim about one candidate can cite. `facts` are those of the candidate and of how often its behavior recurs. */
export type CaseFile = {
  candidate: Candidate;
  facts: Facts;
  observations: readonly Observation[];
  notes: readonly CitableNote[];
  hits: readonly CitableHit[];
  entries: readonly CitableEntry[];
  items: readonly CitableItem[];
  documents: readonly { name: string; content?: string | undefined }[];
};
