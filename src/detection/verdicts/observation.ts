import { hash } from 'node:crypto';
import type { ResultSource } from '../../platform/models/model-request.ts';
import type { RenderedRow } from '../analysis/candidate.ts';
import type { ColumnKind } from '../siem/connector.ts';
import type { Verdict } from './verdict.ts';

/**
 * The stored result of one tool call of an investigation, rendered like the rows of a candidate. `query` is the text that a person can run again,
 * over `from` to `to`. `hasEvents` says whether the source has events in that time, null where nobody knows. `source` is where its rows come from,
 * and `isTrusted` means that an administrator marked the results of the tool as trusted. `hash` is of the rows as they were.
 */
export type Observation = {
  id: string;
  tool: string;
  input: unknown;
  query: string | null;
  from: string | null;
  to: string | null;
  columns: { name: string; kind: ColumnKind }[];
  rows: RenderedRow[];
  total: number;
  truncated: boolean;
  hasEvents: boolean | null;
  source: Exclude<ResultSource, 'case'>;
  isTrusted: boolean;
  at: string;
  ms: number;
  hash: string;
};

/** Returns the rows of a detection's own query as the observation `rows`. `at` is when they were found. */
export const toOwnObservation = (
  rows: RenderedRow[],
  { query, from, to, at }: { query: string | null } & Record<'from' | 'to' | 'at', Date>,
): Observation => ({
  id: 'rows',
  tool: 'detection',
  input: null,
  query,
  from: from.toISOString(),
  to: to.toISOString(),
  columns: [],
  rows,
  total: rows.length,
  truncated: false,
  hasEvents: true,
  source: 'events',
  isTrusted: false,
  at: at.toISOString(),
  ms: 0,
  hash: hash('sha256', JSON.stringify(rows)),
});

/** Returns the observations that the claims of a verdict cite, in their order. */
export function listCited({ claims }: Pick<Verdict, 'claims'>, observations: readonly Observation[]): Observation[] {
  const cited = new Set(
    claims.flatMap(({ cites }) => cites.map((citation) => ('observation' in citation ? citation.observation : ''))),
  );
  return observations.filter(({ id }) => cited.has(id));
}
