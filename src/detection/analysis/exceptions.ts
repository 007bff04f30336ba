import type { Candidate } from './candidate.ts';

/** What a person does not want to hear of. Null: anything. `field` and `value` come together. */
export type Exception = {
  id: string;
  kind: 'exception' | 'snooze';
  entity: string | null;
  field: string | null;
  value: string | null;
};

/**
 * The first exception that covers a candidate: its entity, and, where a field is named, every row behind it. One other row, or rows
 * beyond those that are shown, and the candidate stands: an exception hides nothing that happens beside what it names.
 */
export function exceptionFor(candidate: Candidate, exceptions: readonly Exception[]): Exception | undefined {
  return exceptions.find(
    ({ entity, field, value }) =>
      (entity === null || entity === candidate.entity) && (field === null || holdsThroughout(candidate, field, value)),
  );
}

function holdsThroughout({ rows, facts }: Candidate, field: string, value: string | null): boolean {
  const behind = facts['candidateRows'];
  const shown = typeof behind !== 'number' || behind <= rows.length;
  return (
    rows.length > 0 && shown && rows.every(({ fields }) => Object.hasOwn(fields, field) && fields[field] === value)
  );
}
