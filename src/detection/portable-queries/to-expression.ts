import { anyOf, type Expression, type ValueTest } from '../matching/expression.ts';
import type { EventFilter, FieldPath } from '../log-engine/filters/event-filter.ts';

/** Returns the name of a path in a SIEM, null if the SIEM has no such field, and undefined if that is not known. */
export type NameOf = (path: FieldPath) => string | null | undefined;

/** `canWrite`: the SIEM's language can express the condition. */
type Target = { nameOf: NameOf; canWrite: (match: Expression) => boolean };

/** Returns the part of a filter that a SIEM can apply, or undefined if it would have to return every event. */
export function toExpression(filter: EventFilter, target: Target): Expression | undefined {
  if (filter.kind === 'test') return toMatches(filter.paths, filter.test, target);
  const parts = filter.of.map((one) => toExpression(one, target));
  const known = parts.filter((part) => part !== undefined);
  if (filter.kind === 'any') return known.length === parts.length ? anyOf(known) : undefined;
  if (known.length === 0) return undefined;
  return known.length === 1 ? known[0] : { kind: 'all', of: known };
}

function toMatches(paths: readonly FieldPath[], test: ValueTest, { nameOf, canWrite }: Target): Expression | undefined {
  const names = paths.map(nameOf);
  const known = [...new Set(names.filter((name) => typeof name === 'string'))];
  // If the SIEM has none of the fields, its list may be incomplete.
  if (names.includes(undefined) || known.length === 0) return undefined;
  const matches = known.map((field): Expression => ({ kind: 'match', field, test }));
  return matches.every((match) => canWrite(match)) ? anyOf(matches) : undefined;
}
