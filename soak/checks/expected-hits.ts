import {
  listEvents,
  isHarmless,
  hasNoVerdict,
  hasPlantedEvent,
  repeatedMinutes,
  type SoakRule,
  type SoakTimeline,
} from '../scripted-events.ts';

/**
 * A hit that must exist for the scripted events. `hour` is the hour of its window. `ids` lists the events allowed as evidence; it is empty if
 * the query returns sums. `isHarmless` marks a hit that may be open only if no model judged it in time, and that exists only then.
 * `hasNoVerdict` marks a hit on which the model gives no usable verdict.
 */
export type ExpectedHit = {
  entity: string;
  hour: number;
  occurrences: number;
  ids: string[];
  isHarmless: boolean;
  hasNoVerdict: boolean;
};

/**
 * The hours that the service has examined for one detection, from its records. `learnedHours` have memory: the examined ones, and those before the
 * first examined one, whose history the first run reads. Both count towards the learning period, because a detection learns from all history that
 * it can read. `orderOf` sorts hours by the time of their examination with all of their events.
 */
export type HourRecord = {
  isExamined: (hour: number) => boolean;
  learnedHours: ReadonlySet<number>;
  orderOf: (hour: number) => number;
};

const learningWindows = 7;
const harmful = { isHarmless: false, hasNoVerdict: false };

/** Returns exactly the hits that one detection must have. */
export function listExpectedHits(timeline: SoakTimeline, rule: SoakRule, record: HourRecord): ExpectedHit[] {
  const { isExamined, learnedHours, orderOf } = record;
  const hours = Array.from({ length: timeline.hours + 1 }, (_, hour) => hour).filter(isExamined);
  if (rule.kind === 'repeated')
    return listRepeatedHits(
      timeline,
      rule,
      hours.toSorted((a, b) => orderOf(a) - orderOf(b) || Number(orderOf(a) > a) - Number(orderOf(b) > b) || a - b),
    );
  if (rule.kind === 'sequence') return listSequenceHits(timeline, rule, hours, learnedHours);
  const learned = [...learnedHours].toSorted((a, b) => a - b);
  const comparesWithPast = rule.kind === 'known' || rule.kind === 'counted';
  // Categories that compare with the past raise no hits while they learn.
  const firstHour = comparesWithPast ? (learned[learningWindows - 1] ?? Infinity) + 1 : 0;
  return hours
    .filter((hour) => hour >= firstHour && hasPlantedEvent(timeline, rule, hour))
    .flatMap((hour) => {
      const events = listEvents(timeline, rule, hour);
      const planted = rule.kind === 'counted' ? events.filter(({ count }) => count === 200) : events.slice(-1);
      return planted.map(({ user, id }) => ({
        entity: user,
        hour,
        occurrences: 1,
        ids: rule.kind === 'counted' ? [] : [id],
        isHarmless: rule.kind === 'model' && isHarmless(hour),
        hasNoVerdict: rule.kind === 'model' && hasNoVerdict(hour),
      }));
    });
}

/**
 * An entity that appears repeatedly: occurrences within the suppression time of a hit are added to it, and late ones also to a hit as soon after
 * them. `hours` are in the order of examination.
 */
function listRepeatedHits(timeline: SoakTimeline, rule: SoakRule, hours: number[]): ExpectedHit[] {
  const hits: ExpectedHit[] = [];
  for (const hour of hours.filter((one) => hasPlantedEvent(timeline, rule, one))) {
    const [event] = listEvents(timeline, rule, hour);
    if (!event) continue;
    const near = (hit: ExpectedHit | undefined) => hit && Math.abs(hour - hit.hour) < repeatedMinutes / 60 && hit;
    const inOrder = hits.toSorted((a, b) => a.hour - b.hour);
    const hit = near(inOrder.findLast((one) => one.hour <= hour)) || near(inOrder.find((one) => one.hour > hour));
    if (hit) hit.occurrences += 1;
    else hits.push({ entity: event.user, hour, occurrences: 1, ids: [event.id], ...harmful });
  }
  return hits;
}

/** Two steps in adjacent hours: found if the hour of the second was examined and the hour of the first is remembered, in any order. */
function listSequenceHits(
  timeline: SoakTimeline,
  rule: SoakRule,
  hours: number[],
  learnedHours: ReadonlySet<number>,
): ExpectedHit[] {
  return hours
    .filter((hour) => hasPlantedEvent(timeline, rule, hour - 1) && learnedHours.has(hour - 1))
    .flatMap((hour) => {
      const second = listEvents(timeline, rule, hour).find(({ step }) => step === 2);
      const first = listEvents(timeline, rule, hour - 1).find(({ step }) => step === 1);
      if (!second || !first) return [];
      return [{ entity: second.user, hour, occurrences: 1, ids: [first.id, second.id], ...harmful }];
    });
}
