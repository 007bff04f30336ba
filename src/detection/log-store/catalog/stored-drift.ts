import type { ColumnDrift } from './merge-catalog.ts';

/** A segment lists the values that did not fit for at most this many columns. */
export const storedMax = 100;
/** Stands for the columns that a segment does not list. No column has an empty name. */
export const otherColumns = '';

/** Returns the number of values that did not fit, by column, as the text that a segment stores. Null if all fitted. */
export function serializeDrift(drifts: ColumnDrift[]): string | null {
  const counted = drifts.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count);
  if (counted.length === 0) return null;
  const counts = Object.fromEntries(counted.slice(0, storedMax).map(({ column, count }) => [column, count]));
  const rest = counted.slice(storedMax).reduce((sum, { count }) => sum + count, 0);
  return JSON.stringify(rest > 0 ? { ...counts, [otherColumns]: rest } : counts);
}
