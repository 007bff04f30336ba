import type { Candidate } from '../candidate.ts';
import { compilePattern } from './value-pattern.ts';

/** A rule that mutes candidates. Null matches anything. `field` and `value` are set together. */
export type Exception = {
  id: string;
  kind: 'exception' | 'snooze';
  entity: string | null;
  field: string | null;
  value: string | null;
};

type ExceptionTest<E> = { exception: E; matches: (candidate: ExceptionSubject) => boolean };

/** The part of a candidate that exceptions look at. */
export type ExceptionSubject = Pick<Candidate, 'entity' | 'rows' | 'facts'>;

/**
 * Returns a function that finds the first exception that matches a candidate's entity and, if it has a field, all rows behind the
 * candidate. Entities, field names and values match without regard to case, and `*` stands for any text. A candidate with another row, or
 * with rows beyond those shown, does not match, so that an exception never hides other activity.
 */
export function compileExceptions<E extends Omit<Exception, 'id' | 'kind'>>(
  exceptions: readonly E[],
): (candidate: ExceptionSubject) => E | undefined {
  const tests = exceptions.map(compileException);
  return (candidate) => tests.find(({ matches }) => matches(candidate))?.exception;
}

function compileException<E extends Omit<Exception, 'id' | 'kind'>>(exception: E): ExceptionTest<E> {
  const matchesEntity = exception.entity === null ? () => true : compilePattern(exception.entity);
  const { field, value } = exception;
  const matchesValue = compilePattern(value ?? '');
  const matchesRow = ({ fields }: Candidate['rows'][number]): boolean => {
    const text = field === null ? undefined : findValue(fields, field);
    return text !== undefined && matchesValue(text);
  };
  return {
    exception,
    matches: (candidate) =>
      matchesEntity(candidate.entity) &&
      (field === null || (hasAllRows(candidate) && candidate.rows.every((row) => matchesRow(row)))),
  };
}

function hasAllRows({ rows, facts }: ExceptionSubject): boolean {
  const rowCount = facts['candidateRows'];
  return rows.length > 0 && (typeof rowCount !== 'number' || rowCount <= rows.length);
}

/** Returns the value of a field whose name is equal, else of one whose name differs only in case. */
function findValue(fields: Record<string, string>, field: string): string | undefined {
  if (Object.hasOwn(fields, field)) return fields[field];
  const lower = field.toLowerCase();
  return Object.entries(fields).find(([name]) => name.toLowerCase() === lower)?.[1];
}
