import type { Candidate } from './candidate.ts';

/** A rule that mutes candidates. Null matches anything. `field` and `value` are set together. */
export type Exception = {
  id: string;
  kind: 'exception' | 'snooze';
  entity: string | null;
  field: string | null;
  value: string | null;
};

/**
 * Returns the first exception that matches a candidate's entity and, if it has a field, all rows behind the candidate. A candidate with
 * another row, or with rows beyond those shown, does not match, so that an exception never hides other activity.
 */
export function findException(candidate: Candidate, exceptions: readonly Exception[]): Exception | undefined {
  return exceptions.find(
    ({ entity, field, value }) =>
      (entity === null || entity === candidate.entity) && (field === null || matchesEveryRow(candidate, field, value)),
  );
}

function matchesEveryRow({ rows, facts }: Candidate, field: string, value: string | null): boolean {
  const rowCount = facts['candidateRows'];
  const hasAllRows = typeof rowCount !== 'number' || rowCount <= rows.length;
  return (
    rows.length > 0 && hasAllRows && rows.every(({ fields }) => Object.hasOwn(fields, field) && fields[field] === value)
  );
}
