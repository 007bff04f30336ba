import type { Candidate } from '../candidate.ts';
import { buildCandidate } from '../build-candidate.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import type { AnalysisInput, CategoryAnalysis, Finding } from '../category.ts';
import { baselineMs, zBySensitivity } from '../tuning/tuning-defaults.ts';
import { isLearning, computeLookbackStart, type RecalledMemory } from '../memory/memory.ts';
import { findPeerGroup } from '../rows/peer-group.ts';
import { computeGroupNumbers, type GroupNumber } from '../rows/group-numbers.ts';
import { computeBaseline, createPeerBaselines, computeRobustZ, type Baseline } from '../memory/baseline.ts';
import { createSampleLookup } from '../memory/entity-samples.ts';
import {
  createIncreaseRating,
  largestKey,
  rememberLargest,
  type IncreaseRating,
  type RateIncrease,
} from './rate-increase.ts';
import { rateBaseline } from '../severity.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';

const peersMin = 10;
const samplesMin = 7;
const key = 'number';

/** Finds entities with a number far above their own history or, for a new entity, far above the other entities of the window. */
export const baselineAnomaly: CategoryAnalysis = {
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
};

const getZMin = ({ tuning }: AnalysisDefinition): number => zBySensitivity[tuning?.sensitivity ?? 'medium'];

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
};

function* findCandidates(input: AnalysisInput & { past: RecalledMemory }): Steps<Finding[]> {
  const numbers = yield* computeGroupNumbers(input.groups);
  const groupOf = new Map(
    yield* mapInSteps(numbers, ({ group }) => [group.identity, findPeerGroup(group, input.definition)] as const),
  );
  const peersOf = new Map(
    [...Map.groupBy(numbers, ({ group }) => groupOf.get(group.identity)!)]
      .filter(([, members]) => members.length > peersMin)
      .map(([name, members]) => [name, createPeerBaselines(Float64Array.from(members, ({ number }) => number))]),
  );
  const findSamples = createSampleLookup(input.past, input.window.from);
  const compare = ({ group, number }: GroupNumber): Comparison | undefined => {
    const own = findSamples(group.identity);
    const findPeers = peersOf.get(groupOf.get(group.identity)!);
    if (!own) return findPeers && { baseline: findPeers(number), comparedWith: 'other entities', firstSeen: null };
    const comparedWith = own.sameHour ? 'same hour' : 'all windows';
    return { baseline: computeBaseline(own.samples), comparedWith, firstSeen: own.firstSeen };
  };
  const zMin = getZMin(input.definition);
  const { minimumIncrease = 0, minimumCount = -Infinity } = input.definition.tuning ?? {};
  let rate: RateIncrease | undefined;
  const findings: Finding[] = [];
  for (const groupNumber of numbers.filter((number) => canBeAnomalous(number, input.definition))) {
    yield;
    const comparison = compare(groupNumber);
    if (!comparison) continue;
    const z = computeRobustZ(groupNumber.number, comparison.baseline);
    if (z < zMin) continue;
    rate ??= yield* createIncreaseRating(input, findSamples, (entity) => groupOf.get(entity) ?? '');
    const rating = rate(groupNumber.group.identity, groupNumber.number);
    if (rating.isUsual) continue;
    const { number } = groupNumber;
    const isBelow = number < minimumCount || number - comparison.baseline.median < minimumIncrease;
    if (isBelow) findings.push('belowMinimum');
    else findings.push(yield* toCandidate(input, groupNumber, { comparison, rating, z }));
  }
  return findings;
}

function* toCandidate(
  input: AnalysisInput,
  { group, number, unit }: GroupNumber,
  { comparison, rating, z }: { comparison: Comparison; rating: IncreaseRating; z: number },
): Steps<Candidate> {
  const { baseline, comparedWith, firstSeen } = comparison;
  const isPeerComparison = comparedWith === 'other entities';
  const enoughPast = !isPeerComparison && baseline.samples >= samplesMin;
  return yield* buildCandidate(input, group, {
    kindKey: `baseline_anomaly:${input.window.from.toISOString()}`,
    severity: rating.isRare ? rateBaseline(z, enoughPast) : 'low',
    rows: group.rows,
    facts: {
      count: number,
      unit,
      z: round(z),
      median: round(baseline.median),
      scale: round(baseline.scale),
      [isPeerComparison ? 'peers' : 'samples']: baseline.samples,
      comparedWith,
      largestBefore: rating.largestBefore,
      similarBefore: rating.similarBefore,
      asLargeBefore: rating.asLargeBefore,
      firstSeen: firstSeen === null ? null : new Date(firstSeen).toISOString(),
      enoughPast,
    },
  });
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}
