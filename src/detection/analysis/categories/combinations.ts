import type { AnalysisWindow } from '../analysis-definition.ts';
import type { RecalledCombination } from '../memory/memory.ts';
import { appendToList } from '../memory/recall.ts';
import { findPlace } from '../places/places.ts';
import { isAdministrative } from '../rows/administrative.ts';
import { memoizePerGroup, type GroupedRow } from '../rows/group-rows.ts';
import { findRowTimeRange } from '../rows/row-times.ts';
import { combineValues, type Combination } from '../rows/row-values.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';

/** A combination of values with the rows of the entity that have it. */
export type SeenCombination = Omit<Combination, 'key'> & { rows: GroupedRow[] };

const administrativePrefix = 'admin:';
/** Returns whether a remembered key is that of an operation that changes accounts, rights or what is recorded. */
export const isAdministrativeKey = (key: string): boolean => key.startsWith(administrativePrefix);

/** Returns the combinations of a group's rows by the key under which they are remembered. */
export const groupByCombination = memoizePerGroup(function* ({ rows }) {
  const byKey = new Map<string, SeenCombination>();
  for (const row of rows) {
    for (const { key, parts, values } of combineValues(row.row, row.field)) {
      const isOperation = values.some(([field, value]) => isAdministrative(field, value));
      const name = isOperation ? `${administrativePrefix}${key}` : key;
      const seen = byKey.get(name);
      if (seen) seen.rows.push(row);
      else byKey.set(name, { parts, values, rows: [row] });
    }
    yield;
  }
  return byKey;
});

/**
 * Returns what is remembered of a combination besides its key, as JSON: its parts if there are several, so that rows with only some of them are
 * recognized, and the latest place with its time, or the start of the window if the rows have no times. Null if there is neither.
 */
export function* rememberCombination({ parts, rows }: SeenCombination, window: AnalysisWindow): Steps<string | null> {
  const stays = yield* mapInSteps(rows, ({ row }) => {
    const place = findPlace(row);
    return place === undefined ? [] : [{ place, at: findRowTimeRange(row, window)?.last ?? window.from.getTime() }];
  });
  const latest = stays
    .flat()
    .reduce<{ place: string; at: number } | undefined>((a, b) => (a && a.at >= b.at ? a : b), undefined);
  if (parts.length < 2 && !latest) return null;
  return JSON.stringify({ ...(parts.length > 1 ? { parts: parts.join(' ') } : {}), ...latest });
}

/**
 * Returns a function that decides whether all parts of a combination were seen together before, with others that are absent now. A combination
 * without any value is part of every earlier one.
 */
export function* findPartTest(
  known: readonly RecalledCombination[],
  isEntityKnown: boolean,
): Steps<(parts: readonly string[]) => boolean> {
  const byPart = new Map<string, Set<string>[]>();
  for (const { parts } of known) {
    yield;
    const set = new Set(parts.split(' '));
    for (const part of set) appendToList(byPart, part, set);
  }
  return (parts) => {
    if (parts.length === 0) return isEntityKnown;
    const lists = parts.map((part) => byPart.get(part) ?? []);
    const shortest = lists.reduce((a, b) => (b.length < a.length ? b : a));
    return shortest.some((set) => parts.every((part) => set.has(part)));
  };
}
