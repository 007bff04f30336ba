import { usesDuplicateRoots, usesOverriddenRows, type ItemFilters } from '../item-filters.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { duplicateRootsCte } from './duplicate-roots.sql.ts';
import { overriddenRowsCte } from './overridden-rows.sql.ts';
import type { Cte } from './query.sql.ts';

/** Returns the CTEs that `orderedRows` needs for the filters. */
export function filterCtes(snapshot: Snapshot, filters: ItemFilters): Cte[] {
  const { overridesSeq } = filters;
  return [
    ...(overridesSeq !== undefined && usesOverriddenRows(filters) ? [overriddenRowsCte(snapshot, overridesSeq)] : []),
    ...(usesDuplicateRoots(filters) ? [duplicateRootsCte(snapshot, filters)] : []),
  ];
}
