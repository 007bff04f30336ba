import { dayMs, weekMs } from '../analysis-definition.ts';
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
export type Series = { first: number; numbers: Float64Array };

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
