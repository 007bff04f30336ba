import { measureLeastDistance, findPlace } from '../rows/places.ts';
import type { AnalysisWindow } from '../analysis-definition.ts';
import type { AnalysisInput } from '../category.ts';
import type { RecalledMemory } from '../memory/memory.ts';
import type { EntityGroup, GroupedRow } from '../rows/group-rows.ts';
import { findRowTime, findRowTimeRange } from '../rows/row-times.ts';
import type { QueryRow } from '../../siem/connector.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';

const newPlacesMax = 10;

/** Returns the times of a row. Those of an event that arrived late are before the window. */
export function findStayTimes(row: QueryRow, window: AnalysisWindow): { first: number; last: number } | undefined {
  const late = findRowTime(row, null);
  return findRowTimeRange(row, window) ?? (late === undefined ? undefined : { first: late, last: late });
}

/** Returns the stay that a row states. Without a time, it may be anywhere in the window. */
function readStay({ row }: GroupedRow, window: AnalysisWindow): Stay[] {
  const place = findPlace(row);
  if (place === undefined) return [];
  const range = findStayTimes(row, window) ?? { first: window.from.getTime(), last: window.to.getTime() };
  return [{ place, ...range, isExact: range.last < window.to.getTime() }];
}

/** Returns the places of an entity in earlier windows, each with the latest time. */
const listEarlierStays = (past: RecalledMemory, group: EntityGroup): EarlierStay[] =>
  (past.combinations.get(group.identity) ?? []).flatMap(({ place, at }) => (place === null ? [] : [{ place, at }]));

const findLatest = (stays: readonly EarlierStay[]): EarlierStay | undefined =>
  stays.reduce<EarlierStay | undefined>((a, b) => (a && a.at >= b.at ? a : b), undefined);

/**
 * Returns the fastest move of an entity between two consecutive places, of which the first may be the last one of earlier windows, with the rows that
 * state them. Returns undefined if it was in one place only.
 */
export function* findConsecutiveTravel(
  { window, past }: AnalysisInput & { past: RecalledMemory },
  group: EntityGroup,
): Steps<{ travel: Travel; rows: GroupedRow[] } | undefined> {
  const read = (row: GroupedRow) => readStay(row, window).map((stay) => ({ ...stay, rows: [row] }));
  const latest = findLatest(listEarlierStays(past, group));
  const before = latest && { place: latest.place, first: latest.at, last: latest.at, isExact: true, rows: [] };
  const stays = [...(before ? [before] : []), ...(yield* mapInSteps(group.rows, read)).flat()].toSorted(
    (a, b) => a.first - b.first || a.last - b.last,
  );
  const moves: { travel: Travel; rows: GroupedRow[] }[] = [];
  let previous: (Stay & { rows: GroupedRow[] }) | undefined;
  for (const stay of stays) {
    yield;
    if (previous && !isSamePlace(previous.place, stay.place))
      moves.push({
        travel: measureTravel(previous.place, stay.place, measureGap(previous, stay)),
        rows: [...previous.rows, ...stay.rows],
      });
    previous = stay;
  }
  return moves.reduce<(typeof moves)[number] | undefined>(
    (a, b) => (a && a.travel.kmh >= b.travel.kmh ? a : b),
    undefined,
  );
}

/** Returns the fastest move of an entity to or from a place that its new rows show for the first time, or undefined without one. */
export function* findNewTravel(
  { window, past }: AnalysisInput & { past: RecalledMemory },
  group: EntityGroup,
  newRows: readonly GroupedRow[],
): Steps<Travel | undefined> {
  const read = (row: GroupedRow): Stay[] => readStay(row, window);
  const firstStays = new Map<string, Stay>();
  for (const stay of (yield* mapInSteps(newRows, read)).flat())
    if (stay.first < (firstStays.get(stay.place)?.first ?? Infinity)) firstStays.set(stay.place, stay);
  const earlier = listEarlierStays(past, group);
  const known = [...new Set(earlier.map(({ place }) => place))];
  const newStays = [...firstStays.values()]
    .filter(({ place }) => !known.some((other) => isSamePlace(other, place)))
    .slice(0, newPlacesMax);
  if (newStays.length === 0) return undefined;
  const stays = (yield* mapInSteps(group.rows, read)).flat();
  const latest = findLatest(earlier);
  return findFastest(newStays.flatMap((stay) => findFastestTravel(stay, stays, latest) ?? []));
}

/** Faster than an airliner, from one airport to the other and with no time on the ground. */
const speedMaxKmh = 1_000;
const hourMs = 3_600_000;
const gapMinMs = 60_000;

/** A place where an entity was. `first` and `last` are epoch milliseconds: of its events if `isExact`, else of the window that contains them. */
type Stay = { place: string; first: number; last: number; isExact: boolean };

/** A place where an entity was in an earlier window. `at` is the time of its latest event there, or an earlier time if that is unknown. */
type EarlierStay = { place: string; at: number };

/** A move between two places. The distance is the least and the time the longest possible, so the speed is at least `kmh`. */
export type Travel = { from: string; to: string; km: number; minutes: number; kmh: number; isImpossible: boolean };

/**
 * Returns the fastest move between `stay` and another place, or undefined if the entity was nowhere else. `stays` are all of its stays in the
 * window, and `latest` is the last one before.
 */
function findFastestTravel(stay: Stay, stays: readonly Stay[], latest: EarlierStay | undefined): Travel | undefined {
  const gaps = new Map<string, number>();
  const addGap = (place: string, gapMs: number): unknown =>
    place !== stay.place && gaps.set(place, Math.min(gapMs, gaps.get(place) ?? Infinity));
  for (const other of stays) addGap(other.place, measureGap(stay, other));
  if (latest) addGap(latest.place, Math.abs((stay.isExact ? stay.first : stay.last) - latest.at));
  return findFastest([...gaps].map(([place, gapMs]) => measureTravel(place, stay.place, gapMs)));
}

/** Returns the move with the highest speed. */
const findFastest = (moves: readonly Travel[]): Travel | undefined =>
  moves.reduce<Travel | undefined>((a, b) => (a && a.kmh >= b.kmh ? a : b), undefined);

/** Returns the longest time that can lie between the nearest events of two stays in one window. */
function measureGap(a: Stay, b: Stay): number {
  if (!a.isExact || !b.isExact) return Math.max(a.last, b.last) - Math.min(a.first, b.first);
  const gaps = [a.first, a.last].flatMap((time) => [Math.abs(time - b.first), Math.abs(time - b.last)]);
  return Math.min(...gaps);
}

function measureTravel(from: string, to: string, gapMs: number): Travel {
  const km = measureLeastDistance(from, to);
  const ms = Math.max(gapMs, gapMinMs);
  const kmh = (km * hourMs) / ms;
  const minutes = Math.round(ms / 60_000);
  return { from, to, km: Math.round(km), minutes, kmh: Math.round(kmh), isImpossible: kmh > speedMaxKmh };
}

/** Returns whether two places are the same: one country, or coordinates that are as close as they are precise. */
const isSamePlace = (one: string, other: string): boolean =>
  one === other || (one.includes(',') && other.includes(',') && measureLeastDistance(one, other) === 0);
