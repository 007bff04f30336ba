import { lookbackMs } from '../../../platform/lib/cron/cron-intervals.ts';
import { categories } from '../../analysis/registry.ts';
import { subtractMs, type TimeRange } from '../../scheduling/slot-windows.ts';
import type { ActiveRun } from '../execution/active-run.ts';

/**
 * Returns whether late events from before the detection's coverage count in the slots of their own time, so that a forwarder that catches up is
 * history and not one large window. Categories without memory examine them when they arrive: what is decisive is so whenever it happened.
 */
export const keepsEarlierApart = ({ analysis, coverageFrom }: ActiveRun): boolean =>
  coverageFrom !== null && categories[analysis.category].lookbackMs(analysis) > 0;

/** Returns whether a window is one of the slots of `keepsEarlierApart`. */
export const isBeforeCoverage = (run: ActiveRun, { to }: TimeRange): boolean =>
  run.trigger !== 'manual' && keepsEarlierApart(run) && to <= run.coverageFrom!;

/** Returns the time from which such slots exist: as far before a window as its comparison and the detection's look-back reach. */
export function findEarliestSlotTime({ analysis, definition }: ActiveRun, window: TimeRange): Date {
  const reachMs = categories[analysis.category].lookbackMs(analysis);
  return subtractMs(window.from, Math.max(reachMs, lookbackMs(definition.cronSchedule, definition.lookbackMinutes)));
}

/** Returns whether a slot before the coverage is only remembered, because it is older than the detection's look-back at the start of its coverage. */
export function isTooOldToRaise(run: ActiveRun, window: TimeRange): boolean {
  if (!isBeforeCoverage(run, window)) return false;
  const { cronSchedule, lookbackMinutes } = run.definition;
  return window.from < subtractMs(run.coverageFrom!, lookbackMs(cronSchedule, lookbackMinutes));
}
