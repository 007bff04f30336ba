import type { ValueTest } from '../../matching/expression.ts';

/** The path of a value in an event: the keys from the outermost object inward. `isExact`: the spelling is exact, otherwise case does not matter. */
export type FieldPath = { keys: readonly string[]; isExact: boolean };

/**
 * A condition on the events of a dataset that is true at least wherever a query reads them. `test`: one of the paths has a value that passes.
 * `all` of nothing is true.
 */
export type EventFilter =
  | { kind: 'all' | 'any'; of: readonly EventFilter[] }
  | { kind: 'test'; paths: readonly FieldPath[]; test: ValueTest };

export const everyEvent: EventFilter = { kind: 'all', of: [] };

export const isEveryEvent = (filter: EventFilter): boolean => filter.kind === 'all' && filter.of.length === 0;

/** Returns the conjunction of filters. */
export function allFilters(filters: readonly EventFilter[]): EventFilter {
  const of = filters.flatMap((one) => (one.kind === 'all' ? one.of : [one]));
  return of.length === 1 ? of[0]! : { kind: 'all', of };
}

/** Returns the disjunction of filters. It accepts every event if one of them does. */
export function anyFilter(filters: readonly EventFilter[]): EventFilter {
  if (filters.some(isEveryEvent)) return everyEvent;
  const of = filters.flatMap((one) => (one.kind === 'any' ? one.of : [one]));
  return of.length === 1 ? of[0]! : { kind: 'any', of };
}
