import type { TimeRange } from '../../../scheduling/slot-windows.ts';
import type { QueryWindow, SearchLimits, SearchResult, SiemConnection } from '../../../siem/connector.ts';
import { isBeforeCoverage, keepsEarlierApart } from '../../backfill/earlier-slots.ts';
import type { ActiveRun } from '../active-run.ts';

/** Limits of the query of one window. */
export const searchLimits: SearchLimits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };

/** Why a window is examined once more: late rows may have arrived (`recheck`), or the past before it changed (`revisit`). */
export type RepeatReason = 'recheck' | 'revisit';

/** A window to examine. `repeat` is absent the first time. */
export type WindowTask = TimeRange & { repeat?: RepeatReason };

/** Returns the window of the query. Scheduled windows include what arrived until their end, all others what arrived until now. */
export function toQueryWindow(run: ActiveRun, { repeat, ...window }: WindowTask, now: Date): QueryWindow {
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
