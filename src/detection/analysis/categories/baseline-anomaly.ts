import { type Steps, mapInSteps } from '../../../platform/lib/concurrency/slices.ts';
import { type AnalysisDefinition, dayMs, weekMs } from '../analysis-definition.ts';
import { buildCandidate } from '../build-candidate.ts';
import { type Candidate, type Facts, findMaxSeverity, type Severity } from '../candidate.ts';
import { type AnalysisInput, type Category, type Finding, peerDefaults, sensitivityOf } from '../category.ts';
import { type RecalledMemory, computeLookbackStart, isLearning } from '../memory/memory.ts';
import { type GroupNumber, computeGroupNumbers, findPeerGroup } from '../rows/group-rows.ts';
import {
  type Baseline,
  computeBaseline,
  computeRobustZ,
  createPeerBaselines,
  findMedian,
  madFactor,
  toLog,
} from '../seasons/robust-statistics.ts';
import { createPopulation, type Population, seasonMin } from '../seasons/population.ts';
import { findCell } from '../seasons/profile.ts';
import type { Expectation } from '../seasons/season.ts';
import type { Sensitivity } from '../tuning.schema.ts';
import { countOf, describeMeasure, numberOf, readNumber } from '../wording.ts';
import { largestKey, rememberLargest } from './increase-history.ts';
import { type IncreaseRating, createIncreaseRating, isDrift, mayDrift } from './rate-increase.ts';

const peersMin = 10;
const samplesMin = 7;
const key = 'number';
const defaultBaselineDays = 56;

/** Finds entities with a number far above their own history or, for a new entity, far above the other entities of the window. */
export const baselineAnomaly: Category = {
  label: 'Baseline anomaly',
  description: 'An entity is judged when its count is far above its own baseline.',
  usesHistory: true,
  lookbackMs: baselineMs,
  *buildMemory({ groups, definition }) {
    const numbers = yield* mapInSteps(yield* computeGroupNumbers(groups), ({ group, number }) => ({
      entity: group.identity,
      number,
      group: findPeerGroup(group, definition),
    }));
    return [
      ...numbers.map(({ entity, number }) => ({ key, entity, number, value: null })),
      ...rememberLargest(numbers),
    ];
  },
  *buildMemoryQuery({ groups, window, definition }) {
    const numbers = yield* computeGroupNumbers(groups);
    return {
      want: 'samples',
      since: computeLookbackStart(window, baselineMs(definition)),
      entities: numbers.filter((number) => canBeAnomalous(number, definition)).map(({ group }) => group.identity),
      summaryKey: largestKey,
    };
  },
  *findCandidates(input) {
    if (isLearning(input.past)) return { findings: [], learning: true };
    return { findings: yield* findCandidates(input), learning: false };
  },
  neededColumns: [],
  needsRowTimes: false,
  tuning: {
    defaults: {
      ...peerDefaults,
      minimumCount: null,
      minimumIncrease: 0,
      historyDays: defaultBaselineDays,
      'peers.by': null,
    },
    remembered: ['peers.by'],
    instead: {},
  },
  judgesEachKind: false,
  confidence: (facts) => 45 + Math.min(40, 4 * (numberOf(facts, 'z') - 3.5)) + (facts['enoughPast'] === true ? 5 : -15),
  describeHeadline: ({ facts, subject }) =>
    `${subject.plain} had ${describeMeasure(facts)}, usually ${readNumber(facts, 'median')}`,
  describeFinding: ({ facts, subject: { quoted, start } }) => ({
    finding: `${start} had ${describeMeasure(facts)}, where ${readNumber(facts, 'median')} is usual (median ${describeBaseline(facts)}, robust z-score ${readNumber(facts, 'z')})`,
    details: describeRating(facts),
    nextStep: `Find out what caused the increase for ${quoted}, for example a scheduled job or a change.`,
  }),
  evidenceNote: '',
  followUps: ['what_else', 'same_address', 'since_when', 'known_here', 'known_to_feed', 'where_from'],
  draft: { rule: 'a column count per entity', hasFewColumns: false, findsInFirstWindow: false },
};

/** Returns how far back a baseline reads: eight weeks, or 26 weeks if slots are a week or more apart. */
function baselineMs({ tuning, slotMs }: AnalysisDefinition): number {
  if (tuning?.historyDays !== undefined) return tuning.historyDays * dayMs;
  return slotMs >= weekMs ? 26 * weekMs : defaultBaselineDays * dayMs;
}

/** The robust z from which a number is a candidate. */
const zBySensitivity: Record<Sensitivity, number> = { low: 7, medium: 3.5, high: 2.5 };
const getZMin = (definition: AnalysisDefinition): number => zBySensitivity[sensitivityOf(definition)];

/**
 * Returns whether a number is large enough to be an anomaly. Counts and their medians are never negative, so their z is at most the count
 * itself.
 */
const canBeAnomalous = ({ number, unit }: GroupNumber, definition: AnalysisDefinition): boolean =>
  number >= getZMin(definition) || unit === 'value';

type Comparison = {
  baseline: Baseline;
  comparedWith: 'same hour' | 'all windows' | 'other entities';
  firstSeen: number | null;
  /** The bit mask of the days of the week that are compared. */
  days: number | null;
};

function* findCandidates(input: AnalysisInput & { past: RecalledMemory }): Steps<Finding[]> {
  const { definition, window } = input;
  const numbers = yield* computeGroupNumbers(input.groups);
  const groups = new Map(
    yield* mapInSteps(numbers, ({ group }) => [group.identity, findPeerGroup(group, definition)] as const),
  );
  const groupOf = (entity: string): string => groups.get(entity) ?? '';
  const peerNumbers = new Map(
    [...Map.groupBy(numbers, ({ group }) => groupOf(group.identity))]
      .filter(([, members]) => members.length > peersMin)
      .map(([name, members]) => [name, Float64Array.from(members, ({ number }) => number)]),
  );
  const peerBaselines = new Map([...peerNumbers].map(([name, list]) => [name, createPeerBaselines(list)]));
  const population = yield* createPopulation(input.past, window, definition);
  const compare = ({ group, number }: GroupNumber): Comparison | undefined =>
    compareWithPast(population, group.identity, window.from) ??
    compareWithOthers(peerBaselines.get(groupOf(group.identity)), number);
  const zMin = getZMin(definition);
  const { minimumIncrease = 0, minimumCount = -Infinity } = definition.tuning ?? {};
  let rate: ((entity: string, number: number) => IncreaseRating) | undefined;
  const findings: Finding[] = [];
  for (const groupNumber of numbers.filter((one) => canBeAnomalous(one, definition))) {
    yield;
    const comparison = compare(groupNumber);
    if (!comparison) continue;
    const { number, group } = groupNumber;
    const z = computeRobustZ(number, comparison.baseline);
    // Windows that are only moderately high can be remarkable together.
    if (z < (mayDrift(population) && comparison.firstSeen !== null ? 1 : zMin)) continue;
    rate ??= yield* createIncreaseRating(input, {
      population,
      groupOf,
      numbers: new Map(numbers.map((one) => [one.group.identity, one.number])),
      peersOf: (entity) => expectFromOthers(peerNumbers.get(groupOf(entity))),
    });
    const rating = rate(group.identity, number);
    if (rating.isUsual || (z < zMin && !isDrift(rating))) continue;
    const isBelow = number < minimumCount || number - comparison.baseline.median < minimumIncrease;
    if (isBelow) findings.push('belowMinimum');
    else findings.push(yield* toCandidate(input, groupNumber, { comparison, rating, z }));
  }
  return findings;
}

/** Compares with the same hour of days of the same kind if there are four such windows, otherwise with all windows. */
function compareWithPast({ find, calendar }: Population, entity: string, from: Date): Comparison | undefined {
  const own = find(entity);
  if (!own) return undefined;
  const { series } = own.profile;
  const season = own.seasonOf(findCell(calendar, from.getTime()));
  const hasSeason = season.samples.length >= seasonMin;
  return {
    baseline: computeBaseline(hasSeason ? season.samples : series.numbers),
    comparedWith: hasSeason ? 'same hour' : 'all windows',
    firstSeen: calendar.starts[series.first]!,
    days: hasSeason && calendar.days > 1 ? season.days : null,
  };
}

function compareWithOthers(findPeers: ((x: number) => Baseline) | undefined, number: number): Comparison | undefined {
  return findPeers && { baseline: findPeers(number), comparedWith: 'other entities', firstSeen: null, days: null };
}

/** Returns what a new entity is expected to have: as much as the others of the window. */
function expectFromOthers(numbers: Float64Array | undefined): Expectation | undefined {
  if (!numbers) return undefined;
  const logs = numbers.map(toLog);
  const center = findMedian(logs)!;
  const spread = Math.max(madFactor * findMedian(logs.map((log) => Math.abs(log - center)))!, 0.1);
  return { center, spread, active: numbers.length, activeShare: 1 };
}

/** The first rule that a robust z reaches applies. At most medium with little history or in comparison with other entities. */
const severityByZ = [
  { from: 15, severity: 'high' },
  { from: 7, severity: 'medium' },
] as const;

function rateZ(z: number, hasEnoughPast: boolean): Severity {
  const severity = severityByZ.find((rule) => z >= rule.from)?.severity ?? 'low';
  return hasEnoughPast || severity === 'low' ? severity : 'medium';
}

function* toCandidate(
  input: AnalysisInput,
  { group, number, unit }: GroupNumber,
  { comparison, rating, z }: { comparison: Comparison; rating: IncreaseRating; z: number },
): Steps<Candidate> {
  const { baseline, comparedWith, firstSeen } = comparison;
  const isPeerComparison = comparedWith === 'other entities';
  const enoughPast = !isPeerComparison && baseline.samples >= samplesMin;
  const byDrift = isDrift(rating) ? 'medium' : 'low';
  const byZ = rateZ(z, enoughPast);
  return yield* buildCandidate(input, group, {
    kindKey: `baseline_anomaly:${input.window.from.toISOString()}`,
    severity: rating.lowBecause ? 'low' : findMaxSeverity([byZ, byDrift])!,
    rows: group.rows,
    facts: {
      count: number,
      unit,
      z: round(z),
      median: round(baseline.median),
      scale: round(baseline.scale),
      [isPeerComparison ? 'peers' : 'samples']: baseline.samples,
      comparedWith,
      ...describeIncrease(rating, comparison.days),
      firstSeen: firstSeen === null ? null : new Date(firstSeen).toISOString(),
      enoughPast,
    },
  });
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Returns the facts that show what an increase was compared with. `days` is the bit mask of the days of the week that were. */
function describeIncrease(rating: IncreaseRating, days: number | null): Facts {
  const { seasonZ, seasonZMin, drift, peersRaised, recurrence, lowBecause } = rating;
  return {
    seasonZ: round(seasonZ),
    ...(seasonZMin === -Infinity ? {} : { seasonZMin: round(seasonZMin) }),
    ...(days === null ? {} : { comparedDays: dayNames.filter((_, day) => (days & (1 << day)) !== 0) }),
    largestBefore: rating.largestBefore,
    similarBefore: rating.similarBefore,
    asLargeBefore: rating.asLargeBefore,
    ...(peersRaised === null ? {} : { peersRaised: round(peersRaised) }),
    ...(drift ? { driftWindows: drift.windows, driftZ: round(drift.surprise) } : {}),
    ...(recurrence ? { recursEvery: recurrence.every, recurred: recurrence.times } : {}),
    ...(lowBecause ? { lowBecause } : {}),
  };
}

function describeBaseline(facts: Facts): string {
  if (facts['comparedWith'] === 'other entities')
    return `of the ${readNumber(facts, 'peers')} other entities in this window`;
  const hours = facts['comparedWith'] === 'same hour' ? ' at the same hour of comparable days' : '';
  return `of ${countOf(facts, 'samples', 'earlier window')}${hours}`;
}

const lowReasons: Record<string, string> = {
  chance: 'At this time of the week, such a number is to be expected by chance.',
  'own history': 'The entity has had such an increase before.',
  recurring: 'The entity has such an increase at regular intervals, like a recurring job.',
  'peers now': 'At least half of the other entities increased at the same time.',
  'peers before': 'Other entities have had such an increase before.',
};

/** Describes a drift, and why the increase is rated low. */
function describeRating(facts: Facts): string[] {
  const drift =
    facts['driftWindows'] === undefined
      ? []
      : [
          `Together with it, ${countOf(facts, 'driftWindows', 'consecutive window')} were high (z-score ${readNumber(facts, 'driftZ')}).`,
        ];
  return [...drift, lowReasons[String(facts['lowBecause'])] ?? []].flat();
}
