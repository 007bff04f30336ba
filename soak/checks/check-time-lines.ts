import type { Db } from '../../src/platform/db/db.ts';
import { selectIn } from '../../test/support/select-rows.ts';

/** A covered period or a gap of a detection. `gap` is the reason of a gap, null for a covered period. */
type TimeLinePart = { from: Date; to: Date; gap: string | null };
export type TimeLine = { id: string; from: Date; to: Date; parts: TimeLinePart[]; slots: Date[]; runs: number };

/** Returns the coverage, the gaps that nothing has filled, and the scheduled runs of every active detection by ID. */
export async function readTimeLines(db: Db): Promise<Map<string, TimeLine>> {
  const select = selectIn(db);
  const lines = await select<{ id: string; from: Date; to: Date }>`
    select detection_id as id, coverage_from as "from", boundary_at as "to" from schedules where active`;
  const parts = await select<TimeLinePart & { id: string }>`
    select detection_id as id, covered_from as "from", covered_to as "to", null as gap from coverage
    union all select detection_id, gap_from, gap_to, reason from gaps where state <> 'filled' order by 1, 2`;
  const runs = await select<{ id: string; slots: Date[]; runs: number }>`
    select detection_id as id, array_agg(distinct slot_at order by slot_at) as slots, count(*) as runs
    from runs where trigger = 'schedule' group by 1`;
  const partsById = Map.groupBy(parts, ({ id }) => id);
  const runsById = new Map(runs.map((one) => [one.id, one]));
  return new Map(
    lines.map((line) => {
      const { slots, runs } = runsById.get(line.id) ?? { slots: [], runs: 0 };
      return [line.id, { ...line, parts: partsById.get(line.id) ?? [], slots, runs }];
    }),
  );
}

/** Reasons of gaps during which a detection has no slots. */
const inactiveReasons = new Set(['disabled', 'deleted']);
const hourMs = 3_600_000;

/** Returns the problems of a time line between the soak's start and end: holes, overlaps, and slots without exactly one run. */
export function findTimeLineDeviations(line: TimeLine | undefined, start: Date, end: Date): string[] {
  if (!line) return ['no active schedule'];
  const deviations: string[] = [];
  let cursorMs = start.getTime();
  if (line.from.getTime() !== cursorMs || line.to.getTime() !== end.getTime())
    deviations.push(`the time line is ${line.from.toISOString()} to ${line.to.toISOString()}`);
  for (const { from, to } of line.parts) {
    const cursor = new Date(cursorMs).toISOString();
    if (from.getTime() > cursorMs) deviations.push(`no coverage or gap from ${cursor} to ${from.toISOString()}`);
    if (from.getTime() < cursorMs) deviations.push(`${from.toISOString()} to ${cursor} is recorded twice`);
    cursorMs = to.getTime();
  }
  if (cursorMs !== end.getTime()) deviations.push(`no coverage or gap after ${new Date(cursorMs).toISOString()}`);
  const dueSlots = listDueSlots(line).map((slot) => slot.toISOString());
  const runSlots = line.slots.map((slot) => slot.toISOString());
  if (line.runs !== runSlots.length) deviations.push(`${line.runs} runs for ${runSlots.length} slots`);
  if (dueSlots.join() !== runSlots.join())
    deviations.push(`${runSlots.length} slots with runs, expected ${dueSlots.length}`);
  return deviations;
}

function listDueSlots({ parts }: TimeLine): Date[] {
  return parts
    .filter(({ gap }) => !isInactiveReason(gap))
    .flatMap(({ from, to }) => {
      const hours = Math.round((to.getTime() - from.getTime()) / hourMs);
      return Array.from({ length: hours }, (_, n) => new Date(from.getTime() + (n + 1) * hourMs));
    });
}

export const isInactiveReason = (reason: string | null): boolean => reason !== null && inactiveReasons.has(reason);

/** Returns the reason of the gap at a time, or null. */
export const findGapReason = ({ parts }: Pick<TimeLine, 'parts'>, at: Date): string | null =>
  parts.find(({ gap, from, to }) => gap !== null && from <= at && to > at)?.gap ?? null;

/** Returns whether the hour that starts at `from` was examined. */
export function isCovered({ parts }: Pick<TimeLine, 'parts'>, from: Date): boolean {
  return parts.some((part) => part.gap === null && part.from <= from && part.to > from);
}
