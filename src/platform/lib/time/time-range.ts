import { fieldError } from '../errors.ts';

type RangeQuery = { from?: string | undefined; to?: string | undefined };
type RangeOptions = { now: Date; defaultDays: number; maxDays: number };

const dayMs = 86_400_000;

/** Returns the range of a query with `from` and `to`: by default the last days before now. Throws a 400 if it is empty or too long. */
export function readTimeRange(
  { from: fromText, to: toText }: RangeQuery,
  { now, defaultDays, maxDays }: RangeOptions,
): { from: Date; to: Date } {
  const to = toText === undefined ? now : new Date(toText);
  const from = fromText === undefined ? new Date(to.getTime() - defaultDays * dayMs) : new Date(fromText);
  if (from >= to) throw fieldError('query/from', 'invalid_range', '`from` must be before `to`.');
  if (to.getTime() - from.getTime() > maxDays * dayMs)
    throw fieldError('query/from', 'range_too_long', `The range must be at most ${maxDays} days.`);
  return { from, to };
}
