import type { QueryRow } from '../src/detection/siem/connector.ts';

/** The kinds of detections, assigned by index so that every organization has some of each. */
const kinds = [
  'custom',
  'custom',
  'custom',
  'escalation',
  'known',
  'counted',
  'sequence',
  'repeated',
  'model',
  'custom',
] as const;
export type SoakRuleKind = (typeof kinds)[number];

/** One detection of the soak. `index` counts over all organizations. `org` is the index of the organization. */
export type SoakRule = { index: number; org: number; kind: SoakRuleKind };

/** The simulated time. Suspicious events occur in the hours `[plantedFrom, hours)`, in about one of `rarity` hours per detection. */
export type SoakTimeline = { start: Date; hours: number; rarity: number };

export const hourMs = 3_600_000;
/** Categories that compare with the past need this many hours of history first. */
export const plantedFrom = 12;
export const repeatedMinutes = 360;

export type SoakEvent = {
  id: string;
  timestamp: string;
  user: string;
  action: string;
  rule: number;
  count: number;
  step: number;
  steps: number;
};

export const buildRule = (index: number, org: number): SoakRule => ({ index, org, kind: kinds[index % kinds.length]! });

export const hourStart = ({ start }: SoakTimeline, hour: number): Date => new Date(start.getTime() + hour * hourMs);
export const hourNumber = ({ start }: SoakTimeline, at: Date): number => (at.getTime() - start.getTime()) / hourMs;

/** Returns whether the detection must find a suspicious event in this hour. */
export function hasPlantedEvent(timeline: SoakTimeline, { index, kind }: SoakRule, hour: number): boolean {
  if (hour < plantedFrom || hour >= timeline.hours) return false;
  // Nine hours in a row, longer than the suppression time of a hit.
  return kind === 'repeated' ? (hour + index) % 24 < 9 : (index * 7 + hour * 13) % timeline.rarity === 0;
}

/** Returns all events of one hour for one detection. Depends on the detection's index and the hour only. */
export function listEvents(timeline: SoakTimeline, rule: SoakRule, hour: number): SoakEvent[] {
  const { index, kind } = rule;
  const planted = hasPlantedEvent(timeline, rule, hour);
  const event = (name: string, more: Partial<SoakEvent> & { minute?: number }): SoakEvent => {
    const { minute = 20, ...fields } = more;
    const timestamp = new Date(hourStart(timeline, hour).getTime() + minute * 60_000).toISOString();
    return { id: `event-of-the-soak-${name}-${index}-${hour}`, timestamp, user: '', action: '', rule: index, count: 0, step: 0, steps: 2, ...fields }; // prettier-ignore
  };
  if (hour < 0 || hour >= timeline.hours) return [];
  if (kind === 'known') {
    const known = event('usual', { user: `known-${index}`, action: 'sign-in' });
    return planted ? [known, event('planted', { user: known.user, action: `new-${hour}` })] : [known];
  }
  if (kind === 'counted')
    return [0, 1, 2].map((n) => {
      const isMany = planted && n === hour % 3;
      return event(`counted-${n}`, {
        user: `counted-${index}-${n}`,
        action: 'read',
        count: isMany ? 200 : 20 + ((index + hour * 7 + n) % 5),
      });
    });
  if (kind === 'sequence') {
    const first = event('first', { user: `${index}-${hour}`, action: 'add key', step: 1, minute: 50 });
    const previousUser = `${index}-${hour - 1}`;
    const second = event('second', { user: previousUser, action: 'use key', step: 2, minute: 10 });
    return [...(hasPlantedEvent(timeline, rule, hour - 1) ? [second] : []), ...(planted ? [first] : [])];
  }
  if (!planted) return [];
  const name = { repeated: `same-${index}`, model: isHarmless(hour) ? `harmless-${hour}` : `harmful-${hour}` };
  return [event('planted', { user: kind in name ? name[kind as 'model'] : `user-${index}-${hour}`, action: 'delete' })];
}

/** Returns an event whose values have other types than those of all other events. It must change nothing for any detection. */
export const driftedEvent = (timeline: SoakTimeline, hour: number): Record<string, unknown> => ({
  id: `event-of-the-soak-drifted-${hour}`,
  timestamp: new Date(hourStart(timeline, hour).getTime() + 30 * 60_000).toISOString(),
  user: { name: 'drifted' },
  action: ['drifted'],
  rule: hour % 2 === 0 ? 'none' : 0.5,
  count: 'many',
  step: false,
  steps: {},
});

/** Returns whether the hour's event for the `model` kind is harmless. The model must not raise a hit for it. */
export const isHarmless = (hour: number): boolean => hour % 2 === 1;

/**
 * Returns how the model fails on the hour's event for the `model` kind: it never gives a valid verdict, cites evidence that is not in
 * the rows, once or always, or refuses.
 */
export function findVerdictFault(hour: number): 'invalid' | 'misquotes once' | 'misquotes' | 'refuses' | undefined {
  const faults = ['invalid', undefined, 'misquotes once', undefined, 'misquotes', 'refuses', undefined] as const;
  return faults[hour % faults.length];
}

/** Returns whether the model gives no usable verdict on the hour's event, so that the hit comes from its facts. */
export function hasNoVerdict(hour: number): boolean {
  const fault = findVerdictFault(hour);
  // Evidence matters only if the model calls the event harmful.
  return fault === 'invalid' || fault === 'refuses' || (fault === 'misquotes' && !isHarmless(hour));
}

/** Converts events to the rows that a query of this kind returns. */
export function toRows({ kind }: SoakRule, events: SoakEvent[]): QueryRow[] {
  if (kind === 'counted') return events.map(({ user, count }) => ({ user, count }));
  return events.map(({ id, timestamp, user, action, step, steps }) => ({
    _id: id,
    _time: timestamp,
    user,
    action,
    ...(kind === 'sequence' ? { step, steps } : {}),
  }));
}
