import { hash } from 'node:crypto';
import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits, truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { type AnalysisDefinition, dayMs } from '../analysis-definition.ts';
import { buildCandidate } from '../build-candidate.ts';
import type { Facts, Severity } from '../candidate.ts';
import { type AnalysisInput, type Category, type Finding, peerDefaults, rowsMin } from '../category.ts';
import {
  type MemoryPair,
  type RecalledMemory,
  buildPairKey,
  chooseEntities,
  computeLookbackStart,
  isLearning,
} from '../memory/memory.ts';
import type { EntityGroup } from '../rows/group-rows.ts';
import { namePlace } from '../rows/places.ts';
import { renderValue } from '../rows/render-row.ts';
import {
  countOf,
  describeTime,
  joinQuoted,
  numberOf,
  quoteCharsMax,
  quoteValues,
  readList,
  readNumber,
} from '../wording.ts';
import {
  type NoveltyRating,
  type SeenCombination,
  createNoveltyRating,
  findPartTest,
  groupByCombination,
  rememberCombination,
} from './rate-novelty.ts';
import { findConsecutiveTravel, findNewTravel, type Travel } from './travel.ts';

const newValuesMax = 10;
/** A memory key that nothing is stored under, so that the past places of every entity are read. */
const travelKey = 'travel';
/** The memory key under which each window lists a sample of its entities. */
export const entitiesKey = 'entities';

const defaultHistoryDays = 30;
const historyDays = ({ tuning }: AnalysisDefinition): number => tuning?.historyDays ?? defaultHistoryDays;

/** Finds entities with a combination of values that they showed in no window of the last 30 days, or of `tuning.historyDays`. */
export const firstOccurrence: Category = {
  label: 'First occurrence',
  description: `An entity is judged when it shows values not seen in any window of the last ${defaultHistoryDays} days.`,
  usesHistory: true,
  lookbackMs: (definition) => historyDays(definition) * dayMs,
  *buildMemory({ groups, window }) {
    const entries = [];
    for (const group of groups)
      for (const [key, combination] of yield* groupByCombination(group))
        entries.push({
          key,
          entity: group.identity,
          number: null,
          value: yield* rememberCombination(combination, window),
        });
    const sample = chooseEntities(groups.map(({ identity }) => identity)).map((entity) => ({
      key: entitiesKey,
      entity,
      number: null,
      value: String(groups.length),
    }));
    return [...entries, ...sample];
  },
  *buildMemoryQuery({ groups, window, definition }) {
    const pairs: MemoryPair[] = [];
    for (const group of groups)
      for (const key of (yield* groupByCombination(group)).keys()) pairs.push({ key, entity: group.identity });
    if (definition.tuning?.minimumSpeedKmh !== undefined)
      for (const { identity } of groups) pairs.push({ key: travelKey, entity: identity });
    return {
      want: 'known',
      since: computeLookbackStart(window, historyDays(definition) * dayMs),
      pairs,
      summaryKey: entitiesKey,
    };
  },
  *findCandidates(input) {
    const { minimumSpeedKmh } = input.definition.tuning ?? {};
    if (minimumSpeedKmh !== undefined)
      return { findings: yield* findTravelers(input, minimumSpeedKmh), learning: false };
    if (isLearning(input.past)) return { findings: [], learning: true };
    return { findings: yield* findCandidates(input), learning: false };
  },
  neededColumns: [],
  needsRowTimes: false,
  tuning: {
    defaults: { ...peerDefaults, minimumCount: 1, historyDays: defaultHistoryDays, minimumSpeedKmh: null },
    remembered: [],
    instead: {
      'peers.by':
        'A first occurrence counts others with the same combination of values, so let the query return the column.',
    },
  },
  judgesEachKind: true,
  confidence: (facts) =>
    50 +
    Math.min(20, numberOf(facts, 'entityWindows')) +
    (facts['otherEntities'] === 0 ? 15 : 0) -
    (facts['enoughPast'] === true ? 0 : 20),
  describeHeadline({ facts, subject: { plain } }) {
    if (facts['minimumSpeedKmh'] !== undefined)
      return `${plain} in ${String(facts['travelFrom'])} and ${String(facts['travelTo'])} within ${readNumber(facts, 'travelMinutes')} minutes`;
    const [first] = quoteValues(readList(facts, 'newValues').slice(0, 1), quoteCharsMax.headline);
    const others = Number(facts['newCombinations']) - 1;
    const more = others > 0 ? ` and ${others} other${others === 1 ? '' : 's'}` : '';
    return first === undefined
      ? `${plain}, with values never seen before`
      : `${plain}, for the first time with ${first}${more}`;
  },
  describeFinding({ facts, subject: { quoted, start } }) {
    if (facts['minimumSpeedKmh'] !== undefined)
      return {
        finding: `${start} was in ${String(facts['travelFrom'])} and then in ${String(facts['travelTo'])}, at a speed of at least ${readNumber(facts, 'travelKmh')} km/h`,
        details: describeDistance(facts),
        nextStep: `Ask ${quoted} where they were and whether they used a VPN. If they cannot explain it, end the sessions and reset the credentials.`,
      };
    const values = joinQuoted(quoteValues(readList(facts, 'newValues'), quoteCharsMax.values).slice(0, 3));
    const combinations = countOf(facts, 'newCombinations', 'combination');
    const history =
      facts['firstSeen'] === null
        ? 'There is no earlier record of the entity itself in that time.'
        : `The entity was first seen on ${describeTime(facts, 'firstSeen')} and has occurred in ${countOf(facts, 'entityWindows', 'window')}.`;
    const others =
      facts['otherEntities'] === 0
        ? 'No other entity has had all of these values.'
        : `Other entities with the rarest of these values: ${readNumber(facts, 'otherEntities')}.`;
    return {
      finding: `${start} had ${combinations} of values${values === '' ? '' : ` (${values})`} not seen in the previous ${readNumber(facts, 'historyDays')} days`,
      details: [history, ...describeTravel(facts), others],
      nextStep: `Ask the person responsible for ${quoted} whether this was intended, and check what else happened around that time.`,
    };
  },
  evidenceNote: ', in a combination that is new for this entity',
  followUps: ['same_value', 'same_address', 'what_else', 'since_when', 'known_here', 'known_to_feed', 'where_from'],
  draft: {
    rule: `an entity with values not seen in ${defaultHistoryDays} days: return few columns`,
    hasFewColumns: true,
    findsInFirstWindow: true,
  },
};

/** Returns the entities that moved at least as fast as the tuning says. */
function* findTravelers(input: AnalysisInput & { past: RecalledMemory }, minimumSpeedKmh: number): Steps<Finding[]> {
  const findings: Finding[] = [];
  for (const group of input.groups) {
    yield;
    const found = yield* findConsecutiveTravel(input, group);
    if (!found || found.travel.kmh < minimumSpeedKmh) continue;
    if (found.rows.length < rowsMin(input.definition)) {
      findings.push('belowMinimum');
      continue;
    }
    const { from, to } = found.travel;
    const history = input.past.entityHistories.get(group.identity);
    findings.push(
      yield* buildCandidate(input, group, {
        kindKey: `travel:${hash('sha256', JSON.stringify([from, to].toSorted(compareCodeUnits)))}`,
        severity: 'medium',
        rows: found.rows,
        facts: {
          count: found.rows.length,
          ...toTravelFacts(found.travel),
          minimumSpeedKmh,
          entityWindows: history?.windows ?? 0,
          enoughPast: true,
        },
      }),
    );
  }
  return findings;
}

const toTravelFacts = ({ from, to, km, minutes, kmh, isImpossible }: Travel): Facts => ({
  travelFrom: namePlace(from),
  travelTo: namePlace(to),
  travelKm: km,
  travelMinutes: minutes,
  travelKmh: kmh,
  impossibleTravel: isImpossible,
});

type Occurrence = { isEntityKnown: boolean; isExpected: boolean; isRare: boolean; isImpossibleTravel: boolean };

/** A move that nobody can make is news even where others often are. */
function rateOccurrence({ isEntityKnown, isExpected, isRare, isImpossibleTravel }: Occurrence): Severity {
  if (isImpossibleTravel) return isRare ? 'high' : 'medium';
  return isEntityKnown && !isExpected ? 'medium' : 'low';
}

type RateNovelty = (entity: string, keys: readonly string[]) => NoveltyRating;

function* findCandidates(input: AnalysisInput & { past: RecalledMemory }): Steps<Finding[]> {
  let rating: RateNovelty | undefined;
  const rate: RateNovelty = (...args) => (rating ??= createNoveltyRating(input))(...args);
  const findings: Finding[] = [];
  for (const group of input.groups) {
    yield;
    const finding = yield* findCandidate(input, group, rate);
    if (finding) findings.push(finding);
  }
  return findings;
}

function* findCandidate(
  input: AnalysisInput & { past: RecalledMemory },
  group: EntityGroup,
  rateNovelty: RateNovelty,
): Steps<Finding | undefined> {
  const { past } = input;
  const entity = group.identity;
  const history = past.entityHistories.get(entity);
  const unknown = [...(yield* groupByCombination(group))].filter(
    ([key]) => !past.known.has(buildPairKey({ key, entity })),
  );
  if (unknown.length === 0) return undefined;
  const isPart = yield* findPartTest(past.combinations.get(entity) ?? [], history !== undefined);
  const unseen = unknown.filter(([, { parts }]) => !isPart(parts));
  if (unseen.length === 0) return undefined;
  const keys = unseen.map(([key]) => key).toSorted(compareCodeUnits);
  const rows = [...new Set(unseen.flatMap(([, combination]) => combination.rows))];
  if (rows.length < rowsMin(input.definition)) return 'belowMinimum';
  const rating = rateNovelty(entity, keys);
  const travel = yield* findNewTravel(input, group, rows);
  const newValues = unseen.map(([, combination]) => describeValues(combination));
  return yield* buildCandidate(input, group, {
    kindKey: `first_occurrence:${hash('sha256', keys.join())}`,
    severity: rateOccurrence({
      isEntityKnown: history !== undefined,
      isExpected: rating.expectedBecause !== undefined,
      isRare: rating.rareValues > 0,
      isImpossibleTravel: travel?.isImpossible ?? false,
    }),
    rows,
    facts: {
      count: rows.length,
      newValues: newValues.toSorted(compareCodeUnits).slice(0, newValuesMax),
      newCombinations: unseen.length,
      firstSeen: history ? new Date(history.firstSeen).toISOString() : null,
      entityWindows: history?.windows ?? 0,
      otherEntities: rating.otherEntities,
      rareValues: rating.rareValues,
      similarPerWeek: rating.similarPerWeek,
      ...(rating.expectedBecause && history ? { expectedBecause: rating.expectedBecause } : {}),
      ...(travel ? toTravelFacts(travel) : {}),
      historyDays: historyDays(input.definition),
      historyWindows: past.windows.length,
      enoughPast: history !== undefined,
    },
  });
}

function describeValues({ values }: SeenCombination): string {
  return truncateText(values.map(([name, value]) => `${name}=${renderValue(name, value) ?? ''}`).join(', '), 300);
}

const describeTravel = (facts: Facts): string[] => (facts['impossibleTravel'] === true ? describeDistance(facts) : []);

function describeDistance(facts: Facts): string[] {
  const [from, to] = [facts['travelFrom'], facts['travelTo']];
  if (typeof from !== 'string' || typeof to !== 'string') return [];
  const gap = `${readNumber(facts, 'travelMinutes')} minutes or less`;
  const speed = facts['impossibleTravel'] === true ? ', faster than any flight' : '';
  return [`${from} and ${to} are at least ${readNumber(facts, 'travelKm')} km apart, with ${gap} in between${speed}.`];
}
