import type { AnalysisInput } from '../category.ts';
import type { RecalledMemory } from '../memory/memory.ts';
import { findPlace } from '../places/places.ts';
import {
  findFastest,
  findFastestTravel,
  isSamePlace,
  type EarlierStay,
  type Stay,
  type Travel,
} from '../places/travel.ts';
import type { EntityGroup, GroupedRow } from '../rows/group-rows.ts';
import { findRowTimeRange } from '../rows/row-times.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';

const newPlacesMax = 10;

/** Returns the fastest move of an entity to or from a place that its new rows show for the first time, or undefined without one. */
export function* findNewTravel(
  { window, past }: AnalysisInput & { past: RecalledMemory },
  group: EntityGroup,
  newRows: readonly GroupedRow[],
): Steps<Travel | undefined> {
  const readStay = ({ row }: GroupedRow): Stay[] => {
    const place = findPlace(row);
    if (place === undefined) return [];
    const range = findRowTimeRange(row, window) ?? { first: window.from.getTime(), last: window.to.getTime() };
    return [{ place, ...range, isExact: range.last < window.to.getTime() }];
  };
  const firstStays = new Map<string, Stay>();
  for (const stay of (yield* mapInSteps(newRows, readStay)).flat())
    if (stay.first < (firstStays.get(stay.place)?.first ?? Infinity)) firstStays.set(stay.place, stay);
  const earlier = (past.combinations.get(group.identity) ?? []).flatMap(({ place, at }): EarlierStay[] =>
    place === null ? [] : [{ place, at }],
  );
  const known = [...new Set(earlier.map(({ place }) => place))];
  const newStays = [...firstStays.values()]
    .filter(({ place }) => !known.some((other) => isSamePlace(other, place)))
    .slice(0, newPlacesMax);
  if (newStays.length === 0) return undefined;
  const stays = (yield* mapInSteps(group.rows, readStay)).flat();
  const latest = earlier.reduce<EarlierStay | undefined>((a, b) => (a && a.at >= b.at ? a : b), undefined);
  return findFastest(newStays.flatMap((stay) => findFastestTravel(stay, stays, latest) ?? []));
}
