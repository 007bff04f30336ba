import { sql } from 'kysely';
import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import { findCoveredEnd } from '../../scheduling/coverage.store.ts';
import { findBoundaryBefore, splitIntoWindows, subtractMs, type TimeRange } from '../../scheduling/timeline.ts';
import type { LateEvents } from '../../siem/connector.ts';
import { readLookbackMs } from '../../siem/query-text.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import type { RunStep } from '../run-model/run-progress.ts';
import { findEarliestSlotTime, keepsEarlierApart } from '../run-model/search-window.ts';

const slotsMax = 5_000;

/**
 * Returns the earlier slot windows whose events arrived within `window`, or before it while no window was examined: they must be examined
 * again. Yields a warning about late events. Events more than a week late are counted in `window` itself, and so are those from before
 * the detection, unless `keepsEarlierApart`.
 */
export async function* findLateSlots(
  { db }: { db: Db },
  run: ActiveRun,
  window: TimeRange,
  signal: AbortSignal,
): RunStep<TimeRange[]> {
  const { connection } = run;
  const { cronSchedule: cron, detectionQuery } = run.definition;
  const oldest = findOldest(run, window);
  if (!connection.lateEvents || cron === null || oldest === null) return [];
  const coveredTo = await inOrg(db, run.orgId, (tx) => findCoveredEnd(tx, run, window.from));
  const found = await connection.lateEvents.find(detectionQuery, findArrival(run, window, coveredTo)!, signal);
  const late = found.filter(({ from }) => from < window.from);
  if (late.length === 0) return [];
  const apart = findEarlierApart(run, window);
  const isApart = ({ from }: LateEvents): boolean => apart !== null && from < apart.to;
  const isInReach = (events: LateEvents): boolean => events.to > (apart && isApart(events) ? apart.from : oldest);
  const inReach = late.filter(isInReach);
  const tooLate = late.filter((events) => !isInReach(events) && !isApart(events));
  const tooOld = late.filter((events) => !isInReach(events) && isApart(events));
  const since = apart && apart.from < oldest ? apart.from : oldest;
  // A slot that looks back also depends on the events before it.
  const lookbackMs = readLookbackMs(detectionQuery) ?? 0;
  const { delayMs } = connection;
  const slots = listSlots(inReach, { cron, delayMs, until: window.from, oldest: since, lookbackMs });
  yield { code: 'late_data', detail: describeLateEvents({ inReach, tooLate, tooOld, slots: slots.length }) };
  return slots;
}

/**
 * Returns the time before the coverage whose events count in slots of their own, or null. Only within a week, so that nobody hides later events by
 * dating them back.
 */
function findEarlierApart(run: ActiveRun, window: TimeRange): TimeRange | null {
  const { connection, coverageFrom } = run;
  if (!coverageFrom || !connection.lateEvents || !keepsEarlierApart(run)) return null;
  const isFirstWeek = window.from < subtractMs(coverageFrom, -connection.lateEvents.lagMsMax);
  return isFirstWeek ? { from: findEarliestSlotTime(run, window), to: coverageFrom } : null;
}

/** Returns the time since which late events are counted in their own slot. Null if a run examines no earlier window again. */
function findOldest({ connection, coverageFrom, definition }: ActiveRun, window: TimeRange): Date | null {
  if (!connection.lateEvents || definition.cronSchedule === null || coverageFrom === null) return null;
  return new Date(Math.max(coverageFrom.getTime(), window.from.getTime() - connection.lateEvents.lagMsMax));
}

/**
 * Returns when events of earlier windows must have arrived that no run has taken into account before. `coveredTo` is the end of the covered
 * time before the window. Null if no earlier window is examined again.
 */
export function findArrival(run: ActiveRun, window: TimeRange, coveredTo: Date | null): TimeRange | null {
  const oldest = findOldest(run, window);
  return oldest && { from: clampDate(coveredTo ?? oldest, oldest, window.from), to: window.to };
}

const clampDate = (date: Date, min: Date, max: Date): Date =>
  new Date(Math.min(Math.max(date.getTime(), min.getTime()), max.getTime()));

type SlotOptions = { cron: string; delayMs: number; until: Date; oldest: Date; lookbackMs: number };

function listSlots(late: LateEvents[], { cron, delayMs, until, oldest, lookbackMs }: SlotOptions): TimeRange[] {
  if (late.length === 0) return [];
  const first = new Date(Math.max(Math.min(...late.map(({ from }) => from.getTime())), oldest.getTime()));
  const from = findBoundaryBefore(first, { cron, delayMs }) ?? first;
  return splitIntoWindows({ from, to: until }, { cron, delayMs }, slotsMax).filter((slot) =>
    late.some((events) => events.from < slot.to && events.to.getTime() + lookbackMs > slot.from.getTime()),
  );
}

const sum = (late: LateEvents[]): number => late.reduce((total, { events }) => total + events, 0);

function describeLateEvents({
  inReach,
  tooLate,
  tooOld,
  slots,
}: {
  inReach: LateEvents[];
  tooLate: LateEvents[];
  tooOld: LateEvents[];
  slots: number;
}): string {
  const all = [...inReach, ...tooLate, ...tooOld];
  const hours = Math.max(...all.map(({ lagMs }) => lagMs)) / 3_600_000;
  const parts = [`${sum(all)} events arrived up to ${hours.toFixed(1)} hours late.`];
  if (slots > 0) parts.push(`The ${slots} earlier windows that they belong to are examined again.`);
  if (tooLate.length > 0)
    parts.push(
      `${sum(tooLate)} of them are older than a week or than the detection, and count in the window in which they arrived.`,
    );
  if (tooOld.length > 0)
    parts.push(
      `${sum(tooOld)} of them are older than anything that the detection compares with, and count in no window.`,
    );
  return parts.join(' ');
}

/** Schedules an examination of each window as soon as possible, except those in which the detection was disabled or deleted. */
export async function scheduleLateSlots(tx: Tx, run: ActiveRun, slots: readonly TimeRange[], now: Date): Promise<void> {
  if (slots.length === 0) return;
  await sql`insert into rechecks (organization_id, detection_id, window_from, window_to, generation, due_at)
    select ${run.orgId}::uuid, ${run.detectionId}::uuid, slot_from, slot_to, ${run.scope.generation}, ${now}::timestamptz
    from unnest(${slots.map(({ from }) => from.toISOString())}::timestamptz[],
      ${slots.map(({ to }) => to.toISOString())}::timestamptz[]) as slots (slot_from, slot_to)
    where not exists (select from gaps g where g.organization_id = ${run.orgId} and g.detection_id = ${run.detectionId}
      and g.gap_from < slot_to and g.gap_to > slot_from and g.reason in ('disabled', 'deleted') and g.state <> 'filled')
    on conflict (organization_id, detection_id, window_from) do update set window_to = excluded.window_to,
      generation = excluded.generation, due_at = least(rechecks.due_at, excluded.due_at), tries = 0`.execute(tx);
}
