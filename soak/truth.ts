import { eventsOf, isHarmless, isPlanted, repeatedMinutes, type Rule, type World } from './world.ts';

/**
 * A hit as the events demand it. `hour` is that of its window, `ids` the events that may prove it (empty where rows are sums).
 * `harmless`: only there if no model came to it in time.
 */
export type DueHit = { entity: string; hour: number; occurrences: number; ids: string[]; harmless: boolean };

const learned = 7;

/** The hits that one detection has to have once the hours for which `isCovered` holds were examined, and no others. */
export function dueHits(world: World, rule: Rule, isCovered: (hour: number) => boolean): DueHit[] {
  const hours = Array.from({ length: world.hours + 1 }, (_, hour) => hour).filter(isCovered);
  if (rule.kind === 'repeated') return repeatedHits(world, rule, hours);
  if (rule.kind === 'sequence') return sequenceHits(world, rule, hours, isCovered);
  return (
    hours
      // What compares with the past is still learning in its first windows.
      .filter((_, nth) => nth >= learned || !(rule.kind === 'known' || rule.kind === 'counted'))
      .filter((hour) => isPlanted(world, rule, hour))
      .flatMap((hour) => {
        const events = eventsOf(world, rule, hour);
        const found = rule.kind === 'counted' ? events.filter(({ count }) => count === 200) : events.slice(-1);
        return found.map(({ user, id }) => ({
          entity: user,
          hour,
          occurrences: 1,
          ids: rule.kind === 'counted' ? [] : [id],
          harmless: rule.kind === 'model' && isHarmless(hour),
        }));
      })
  );
}

/** The same entity again and again: what comes while a hit stands for it joins that hit. */
function repeatedHits(world: World, rule: Rule, hours: number[]): DueHit[] {
  const hits: DueHit[] = [];
  for (const hour of hours.filter((one) => isPlanted(world, rule, one))) {
    const [event] = eventsOf(world, rule, hour);
    if (!event) continue;
    const last = hits.at(-1);
    if (last && hour - last.hour < repeatedMinutes / 60) last.occurrences += 1;
    else hits.push({ entity: event.user, hour, occurrences: 1, ids: [event.id], harmless: false });
  }
  return hits;
}

/** Two steps in neighbouring hours: found where both were looked at, whenever that was. */
function sequenceHits(world: World, rule: Rule, hours: number[], isCovered: (hour: number) => boolean): DueHit[] {
  return hours
    .filter((hour) => isPlanted(world, rule, hour - 1) && isCovered(hour - 1))
    .flatMap((hour) => {
      const second = eventsOf(world, rule, hour).find(({ step }) => step === 2);
      const first = eventsOf(world, rule, hour - 1).find(({ step }) => step === 1);
      if (!second || !first) return [];
      return [{ entity: second.user, hour, occurrences: 1, ids: [first.id, second.id], harmless: false }];
    });
}
