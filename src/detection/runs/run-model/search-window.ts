import { type TimeRange, subtractMs } from '../../scheduling/timeline.ts';
import {
  type QueryWindow,
  type SearchLimits,
  type SearchResult,
  type SiemConnection,
  SiemError,
} from '../../siem/connector.ts';
import type { ActiveRun } from './active-run.ts';
import { lookbackMs } from '../../../platform/lib/time/cron.ts';
import { getCategory } from '../../analysis/registry.ts';

/** Limits of the query of one window. */
export const searchLimits: SearchLimits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };

/** Why a window is examined once more: late rows may have arrived (`recheck`), or the past before it changed (`revisit`). */
export type RepeatReason = 'recheck' | 'revisit';

/** A window to examine. `repeat` is absent the first time. */
export type WindowTask = TimeRange & { repeat?: RepeatReason };

/** Returns the window of the query. Continuous windows have what arrived in them, scheduled ones include what arrived until their end, all others what arrived until now. */
export function toQueryWindow(run: ActiveRun, { repeat, ...window }: WindowTask, now: Date): QueryWindow {
  if (run.trigger === 'continuous') return { ...window, clock: 'ingest' };
  if (run.clock === 'event') return { ...window, clock: trialClock(run.connection), ingestedBefore: now };
  if (!run.connection.lateEvents) return { ...window, clock: run.clock };
  if (isBeforeCoverage(run, window)) return { ...window, clock: 'slot', ingestedBefore: now };
  const isFirst = run.trigger === 'schedule' && !repeat;
  return {
    ...window,
    clock: 'slot',
    ingestedBefore: isFirst ? window.to : now,
    lateSince: run.coverageFrom ?? new Date(0),
    ...(keepsEarlierApart(run) ? { earlierApart: true } : {}),
  };
}

/** Returns the clock of windows in the past that no schedule examines. */
export const trialClock = ({ lateEvents }: Pick<SiemConnection, 'lateEvents'>): 'event' | 'slot' =>
  lateEvents ? 'slot' : 'event';

/** Runs the detection's query over one window, within `searchLimits`. */
export function searchWindow(run: ActiveRun, window: QueryWindow, signal: AbortSignal): Promise<SearchResult> {
  signal.throwIfAborted();
  return run.connection.search(run.definition.detectionQuery, window, searchLimits, signal);
}

/** Returns whether the windows of a run are those of its detection's time line, in which each time is examined once. */
export const hasTimeLine = ({ trigger }: Pick<ActiveRun, 'trigger'>): boolean =>
  trigger === 'schedule' || trigger === 'backfill';

const hasMemory = ({ analysis }: Pick<ActiveRun, 'analysis'>): boolean =>
  getCategory(analysis.category).lookbackMs(analysis) > 0;

/**
 * Returns whether late events from before the detection's coverage count in the slots of their own time, so that a forwarder that catches up is
 * history and not one large window. Detections of single events examine late events when they arrive, because the time of such an event does not matter.
 */
export const keepsEarlierApart = (run: ActiveRun): boolean =>
  run.coverageFrom !== null && (hasMemory(run) || run.groupsEvents || (run.analysis.tuning?.minimumCount ?? 1) > 1);

/** Returns whether the query groups events, if a window depends on it. The search of the window reports a query that is not valid. */
export async function findGrouping(
  run: ActiveRun,
  windows: readonly TimeRange[],
  signal: AbortSignal,
): Promise<boolean> {
  const { connection, coverageFrom, definition } = run;
  const { lateEvents } = connection;
  if (!lateEvents || coverageFrom === null || keepsEarlierApart(run)) return false;
  const firstWeekEnd = subtractMs(coverageFrom, -lateEvents.lagMsMax);
  if (!windows.some(({ from }) => from < firstWeekEnd)) return false;
  return lateEvents.groupsEvents(definition.detectionQuery, signal).catch((error: unknown) => {
    if (error instanceof SiemError && error.failure.blame === 'author') return false;
    throw error;
  });
}

/** Returns whether a window is one of the slots of `keepsEarlierApart`. */
export const isBeforeCoverage = (run: ActiveRun, { to }: TimeRange): boolean =>
  hasTimeLine(run) && keepsEarlierApart(run) && to <= run.coverageFrom!;

/**
 * Returns the time from which such slots exist: as far before a window as its comparison reaches, and as far before the coverage as the detection
 * raises.
 */
export function findEarliestSlotTime(run: ActiveRun, window: TimeRange): Date {
  const reachMs = getCategory(run.analysis.category).lookbackMs(run.analysis);
  return new Date(Math.min(subtractMs(window.from, reachMs).getTime(), findRaisedSince(run).getTime()));
}

const findRaisedSince = ({ coverageFrom, definition }: ActiveRun): Date =>
  subtractMs(coverageFrom!, lookbackMs(definition.cronSchedule, definition.lookbackMinutes));

/** Returns whether a slot before the coverage is only remembered, because it is older than the detection's look-back at the start of its coverage. */
export const isTooOldToRaise = (run: ActiveRun, window: TimeRange): boolean =>
  isBeforeCoverage(run, window) && window.from < findRaisedSince(run);
