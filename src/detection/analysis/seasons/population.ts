import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../analysis-definition.ts';
import { type RecalledMemory, chooseEntities } from '../memory/memory.ts';
import {
  buildSeries,
  createCalendar,
  type Calendar,
  createProfile,
  findTypicalSpread,
  shrinkSpread,
} from './profile.ts';
import { createDayKinds, createSeasons, type SeasonalProfile } from './season.ts';

/** The entities that a window recalled, as far as they have a past. */
export type Population = {
  calendar: Calendar;
  /** A sample of at most 300 entities, from which the usual values of all entities are learned. */
  members: ReadonlyMap<string, SeasonalProfile>;
  /** Returns the seasons of an entity, or undefined if it was never seen. */
  find: (entity: string) => SeasonalProfile | undefined;
};

/** Learns the weekly pattern of the recalled entities: which days are alike, the usual number of each hour, and the spread of the numbers. */
export function* createPopulation(
  past: RecalledMemory,
  window: AnalysisWindow,
  { slotMs }: Pick<AnalysisDefinition, 'slotMs'>,
): Steps<Population> {
  const calendar = createCalendar(past.windows, slotMs || window.to.getTime() - window.from.getTime());
  const createOwn = (entity: string) => {
    const series = buildSeries(calendar, past.samples.get(entity));
    return series && createProfile(calendar, series);
  };
  const chosen = yield* mapInSteps(chooseEntities(past.samples.keys()), (entity) => ({
    entity,
    profile: createOwn(entity),
  }));
  const profiles = chosen.flatMap(({ entity, profile }) => (profile ? [{ entity, profile }] : []));
  const typicalSpread = findTypicalSpread(profiles.map(({ profile }) => profile));
  const spreadOf = ({ ownSpread }: (typeof profiles)[number]['profile']): number =>
    shrinkSpread(ownSpread, typicalSpread);
  const kindsOf = createDayKinds(profiles.map(({ profile }) => ({ profile, spread: spreadOf(profile) })));
  const toSeasonal = (profile: (typeof profiles)[number]['profile']): SeasonalProfile => {
    const spread = spreadOf(profile);
    return createSeasons(profile, { spread, typicalSpread, kinds: kindsOf(profile, spread) });
  };
  const members = new Map(yield* mapInSteps(profiles, ({ entity, profile }) => [entity, toSeasonal(profile)] as const));
  const others = new Map<string, SeasonalProfile | undefined>();
  const find = (entity: string): SeasonalProfile | undefined => {
    if (members.has(entity)) return members.get(entity);
    if (!others.has(entity)) {
      const profile = createOwn(entity);
      others.set(entity, profile && toSeasonal(profile));
    }
    return others.get(entity);
  };
  return { calendar, members, find };
}
