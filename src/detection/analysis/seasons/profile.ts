import { dayMs, weekMs } from '../analysis-definition.ts';
import { findMedian, madFactor, medianOfSorted, toLog, varianceOfMedian } from './robust-statistics.ts';
import type { MemoryWindow } from '../memory/memory.ts';

/** Where windows are in the week: the UTC day (0 is Sunday) and hour of their start. Windows of a day have one hour, those of a week one day. */
export type Calendar = {
  starts: readonly number[];
  /** The cell of each window: day × hours + hour. */
  cells: Uint8Array;
  days: number;
  hours: number;
  slotMs: number;
};

export function createCalendar(windows: readonly MemoryWindow[], slotMs: number): Calendar {
  const starts = windows.map(({ from }) => from.getTime());
  const grid = { days: slotMs < weekMs ? 7 : 1, hours: slotMs < dayMs ? 24 : 1 };
  return { starts, cells: Uint8Array.from(starts, (at) => findCell(grid, at)), ...grid, slotMs };
}

/** Returns the cell of a time. */
export function findCell({ days, hours }: Pick<Calendar, 'days' | 'hours'>, at: number): number {
  const date = new Date(at);
  return (date.getUTCDay() % days) * hours + (date.getUTCHours() % hours);
}

/** An entity's numbers in all windows of a calendar since its first one, 0 in windows without it. `first` is the index of that window. */
type Series = { first: number; numbers: Float64Array };

/** Returns the series of an entity, or undefined if no window contains it. `samples` are in order. */
export function buildSeries(
  { starts }: Calendar,
  samples: readonly { at: number; number: number }[] | undefined,
): Series | undefined {
  const firstAt = samples?.[0]?.at;
  const first = firstAt === undefined ? -1 : starts.findIndex((start) => start >= firstAt);
  if (!samples || first < 0) return undefined;
  const numbers = new Float64Array(starts.length - first);
  let next = 0;
  for (let index = 0; index < numbers.length; index++) {
    const at = starts[first + index]!;
    while (next < samples.length && samples[next]!.at < at) next += 1;
    for (; next < samples.length && samples[next]!.at === at; next++) numbers[index] = samples[next]!.number;
  }
  return { first, numbers };
}

const pairsMin = 8;
/** Maximum number of pairs from which a spread is learned. */
const pairsMax = 200;
/** Number of an entity's own observations that have the same weight as its peers. */
const priorWeight = 60;
/** A smaller spread is not believed: numbers of computers can be constant for weeks. */
const spreadMin = 0.1;
/** Without anything to learn a spread from. */
const spreadUnknown = 0.5;

/** The history of an entity's numbers. Each logarithm is of the number plus ½. */
export type Profile = {
  calendar: Calendar;
  series: Series;
  logs: Float64Array;
  /** The indexes of the series sorted by cell. Those of cell c are from `offsets[c]` to `offsets[c + 1]`. */
  order: Uint32Array;
  offsets: Uint32Array;
  /** The median logarithm of the numbers other than 0 in each cell, NaN without any, and their count. */
  cellMedians: Float64Array;
  cellCounts: Uint32Array;
  /** How many windows of each cell there are. */
  cellSizes: Uint32Array;
  /** The median logarithm of the numbers other than 0, and how many there are. */
  level: number;
  active: number;
  /** Relative spread of numbers that should be alike, with the number of pairs from which it was learned. Undefined if there are too few. */
  ownSpread: { value: number; pairs: number } | undefined;
};

export function createProfile(calendar: Calendar, series: Series): Profile {
  const { numbers, first } = series;
  const cellCount = calendar.days * calendar.hours;
  const logs = numbers.map(toLog);
  const offsets = new Uint32Array(cellCount + 1);
  for (let index = 0; index < numbers.length; index++) offsets[calendar.cells[first + index]! + 1]! += 1;
  for (let cell = 0; cell < cellCount; cell++) offsets[cell + 1]! += offsets[cell]!;
  const next = offsets.slice();
  const order = new Uint32Array(numbers.length);
  for (let index = 0; index < numbers.length; index++) order[next[calendar.cells[first + index]!]!++] = index;
  const cellMedians = new Float64Array(cellCount);
  const cellCounts = new Uint32Array(cellCount);
  for (let cell = 0; cell < cellCount; cell++) {
    const active: number[] = [];
    for (let at = offsets[cell]!; at < offsets[cell + 1]!; at++)
      if (numbers[order[at]!] !== 0) active.push(logs[order[at]!]!);
    cellCounts[cell] = active.length;
    cellMedians[cell] = findMedian(active) ?? Number.NaN;
  }
  const active = logs.filter((_, index) => numbers[index] !== 0);
  return {
    calendar,
    series,
    logs,
    order,
    offsets,
    cellMedians,
    cellCounts,
    cellSizes: Uint32Array.from(cellMedians, (_, cell) => offsets[cell + 1]! - offsets[cell]!),
    level: findMedian(active) ?? Number.NaN,
    active: active.length,
    ownSpread: learnSpread(calendar, series, logs),
  };
}

/**
 * Learns the relative spread from the changes between windows that should be alike: one week apart, or one day, or neighbors. Changes between
 * seasons do not count then, whatever the seasons are.
 */
function learnSpread(calendar: Calendar, series: Series, logs: Float64Array): Profile['ownSpread'] {
  for (const lagMs of [weekMs, dayMs, undefined]) {
    const { changes, counting } = listChanges(calendar, series, { logs, lagMs });
    if (changes.length < pairsMin) continue;
    const deviation = madFactor * medianOfSorted(changes.toSorted());
    // A part of the changes is the scatter of counts.
    const variance = (deviation ** 2 - medianOfSorted(counting.toSorted())) / 2;
    return { value: Math.max(Math.sqrt(Math.max(variance, 0)), spreadMin), pairs: changes.length };
  }
  return undefined;
}

function listChanges(
  { starts }: Calendar,
  { first, numbers }: Series,
  { logs, lagMs }: { logs: Float64Array; lagMs: number | undefined },
): { changes: Float64Array; counting: Float64Array } {
  const changes: number[] = [];
  const counting: number[] = [];
  let before = 0;
  const last = numbers.length - 1;
  // The stride is no divisor of a day, so that every hour is drawn.
  const stride = last > 2 * pairsMax ? 2 * Math.floor(last / pairsMax / 2) + 1 : 1;
  for (let index = 1; index <= last; index += stride) {
    const wanted = lagMs === undefined ? starts[first + index - 1]! : starts[first + index]! - lagMs;
    while (starts[first + before]! < wanted) before += 1;
    if (starts[first + before] !== wanted || numbers[index] === 0 || numbers[before] === 0) continue;
    changes.push(Math.abs(logs[index]! - logs[before]!));
    counting.push(Math.exp(-logs[index]!) + Math.exp(-logs[before]!));
  }
  return { changes: Float64Array.from(changes), counting: Float64Array.from(counting) };
}

/** Returns the spread that is typical of entities. */
export function findTypicalSpread(profiles: readonly Profile[]): number {
  return findMedian(profiles.flatMap(({ ownSpread }) => ownSpread?.value ?? [])) ?? spreadUnknown;
}

/** Returns a spread of which a share is the entity's own, the more the longer it was observed, but at least half of the typical one. */
export function shrinkSpread(own: { value: number; pairs: number } | undefined, typical: number): number {
  const share = own ? own.pairs / (own.pairs + priorWeight) : 0;
  const value = own ? Math.exp(share * Math.log(own.value) + (1 - share) * Math.log(typical)) : typical;
  return Math.max(value, typical / 2, spreadMin);
}

/** Returns how far two days of an entity differ: the mean squared difference of their hours, 1 if only chance makes it. Undefined if they have few hours in common. */
export function compareDays(
  profile: Profile,
  spread: number,
  [one, other]: [number, number],
): DayDifference | undefined {
  const { calendar, cellMedians, cellCounts } = profile;
  const { hours } = calendar;
  let sum = 0;
  let compared = 0;
  let samples = 0;
  for (let hour = 0; hour < hours; hour++) {
    const a = one * hours + hour;
    const b = other * hours + hour;
    if (cellCounts[a] === 0 || cellCounts[b] === 0) continue;
    const variance =
      (spread ** 2 + Math.exp(-cellMedians[a]!)) * varianceOfMedian(cellCounts[a]!) +
      (spread ** 2 + Math.exp(-cellMedians[b]!)) * varianceOfMedian(cellCounts[b]!);
    // Cut, so that a single hour does not decide.
    sum += Math.min((cellMedians[a]! - cellMedians[b]!) ** 2 / variance, 9);
    samples += Math.min(cellCounts[a]!, cellCounts[b]!);
    compared += 1;
  }
  return compared < hours / 4 ? undefined : { difference: sum / compared, compared, samples: samples / compared };
}

type DayDifference = { difference: number; compared: number; samples: number };
