import type { Row } from '../src/detection/siem/connector.ts';

/** What the detections of a soak look for; by their number, so that every organization has some of each. */
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
export type Kind = (typeof kinds)[number];

/** One detection of the soak, `index` over all organizations, `org` the organization's place. */
export type Rule = { index: number; org: number; kind: Kind };

/** Events are planted in hours `[plantedFrom, hours)`, in one of `rarity` hours of a detection. */
export type World = { start: Date; hours: number; rarity: number };

export const hourMs = 3_600_000;
/** Before it, categories with a history have too little of it. */
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

export const ruleOf = (index: number, org: number): Rule => ({ index, org, kind: kinds[index % kinds.length]! });

export const hourAt = ({ start }: World, hour: number): Date => new Date(start.getTime() + hour * hourMs);
export const hourOf = ({ start }: World, at: Date): number => (at.getTime() - start.getTime()) / hourMs;

/** Whether something is there to be found in this hour. */
export function isPlanted(world: World, { index, kind }: Rule, hour: number): boolean {
  if (hour < plantedFrom || hour >= world.hours) return false;
  // Nine hours in a row, longer than one hit stands for the same again.
  return kind === 'repeated' ? (hour + index) % 24 < 9 : (index * 7 + hour * 13) % world.rarity === 0;
}

/** Everything that happens in one hour and concerns one detection: a function of its number and the hour, of nothing else. */
export function eventsOf(world: World, rule: Rule, hour: number): SoakEvent[] {
  const { index, kind } = rule;
  const planted = isPlanted(world, rule, hour);
  const event = (name: string, more: Partial<SoakEvent> & { minute?: number }): SoakEvent => {
    const { minute = 20, ...rest } = more;
    const timestamp = new Date(hourAt(world, hour).getTime() + minute * 60_000).toISOString();
    return { id: `event-of-the-soak-${name}-${index}-${hour}`, timestamp, user: '', action: '', rule: index, count: 0, step: 0, steps: 2, ...rest }; // prettier-ignore
  };
  if (hour < 0 || hour >= world.hours) return [];
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
    const before = `${index}-${hour - 1}`;
    const second = event('second', { user: before, action: 'use key', step: 2, minute: 10 });
    return [...(isPlanted(world, rule, hour - 1) ? [second] : []), ...(planted ? [first] : [])];
  }
  if (!planted) return [];
  const name = { repeated: `same-${index}`, model: isHarmless(hour) ? `harmless-${hour}` : `harmful-${hour}` };
  return [event('planted', { user: kind in name ? name[kind as 'model'] : `user-${index}-${hour}`, action: 'delete' })];
}

/** A model that knows its business does not raise it. */
export const isHarmless = (hour: number): boolean => hour % 2 === 1;

/** The events as a query of this kind would answer with them. */
export function rowsOf({ kind }: Rule, events: SoakEvent[]): Row[] {
  if (kind === 'counted') return events.map(({ user, count }) => ({ user, count }));
  return events.map(({ id, timestamp, user, action, step, steps }) => ({
    _id: id,
    _time: timestamp,
    user,
    action,
    ...(kind === 'sequence' ? { step, steps } : {}),
  }));
}
