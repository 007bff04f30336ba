import type { Db } from '../../src/platform/db/db.ts';
import { selectIn } from '../../test/support/select-rows.ts';
import { releaseHour, type SoakPlan } from '../plan.ts';
import { hourNumber, hourStart, type SoakRule } from '../scripted-events.ts';
import { findGapReason, isCovered, isInactiveReason, type TimeLine } from './check-time-lines.ts';
import type { HourRecord } from './expected-hits.ts';

type LearnedWindow = { id: string; from: Date; examined: boolean };

/** Returns the windows with memory by detection ID. `examined` is false for those whose memory is only a baseline. */
export async function readLearnedWindows(db: Db): Promise<Map<string, LearnedWindow[]>> {
  const windows = await selectIn(db)<LearnedWindow>`
    select detection_id as id, window_from as "from", examined from memory_windows`;
  return Map.groupBy(windows, ({ id }) => id);
}

/** Late events of the log store are found in arrivals of at most a week. */
const lateHoursMax = 168;

/**
 * Returns which hours a detection has examined with all of their events. An hour whose events were held back by a forwarder counts as examined
 * when the first hour from their arrival on is covered, whether the hour itself is covered or a gap, unless the detection was inactive.
 */
export function buildHourRecord(
  { plan, rule, isLocal }: { plan: SoakPlan; rule: SoakRule; isLocal: boolean },
  line: TimeLine,
  learned: readonly LearnedWindow[],
): HourRecord & { deviations: string[] } {
  const { timeline } = plan;
  const hours = Array.from({ length: timeline.hours + 200 }, (_, hour) => hour);
  const coveredHours = hours.filter((hour) => isCovered(line, hourStart(timeline, hour)));
  const covered = new Set(coveredHours);
  const orderOf = (hour: number): number => {
    const release = isLocal ? releaseHour(plan, hour) : undefined;
    return release === undefined ? hour : (coveredHours.find((one) => one >= release) ?? Infinity);
  };
  const isExamined = (hour: number): boolean => {
    if (!isLocal || releaseHour(plan, hour) === undefined) return covered.has(hour);
    return orderOf(hour) - hour <= lateHoursMax && !isInactiveReason(findGapReason(line, hourStart(timeline, hour)));
  };
  const remembers = rule.kind === 'known' || rule.kind === 'counted' || rule.kind === 'sequence';
  const toHour = ({ from }: LearnedWindow): number => hourNumber(timeline, from);
  const learnedHours = new Set(learned.map(toHour));
  const isKnown = (hour: number): boolean => covered.has(hour) || isExamined(hour);
  const forgotten = remembers ? hours.filter((hour) => isKnown(hour) && !learnedHours.has(hour)) : [];
  const invented = learned.filter(({ examined }) => examined).map(toHour).filter((hour) => !isKnown(hour)); // prettier-ignore
  return {
    isExamined,
    orderOf,
    learnedHours,
    deviations: [
      ...forgotten.map((hour) => `hour ${hour} was examined but is not remembered`),
      ...invented.map((hour) => `hour ${hour} is remembered as examined but was not`),
    ],
  };
}
