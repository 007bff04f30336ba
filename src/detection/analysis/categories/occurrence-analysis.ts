import { hash } from 'node:crypto';
import { buildCandidate } from '../build-candidate.ts';
import type { AnalysisInput, CategoryAnalysis, Finding } from '../category.ts';
import { dayMs, type AnalysisDefinition } from '../analysis-definition.ts';
import type { Severity } from '../candidate.ts';
import type { EntityGroup } from '../rows/group-rows.ts';
import {
  isLearning,
  buildPairKey,
  computeLookbackStart,
  type MemoryPair,
  type RecalledMemory,
  chooseEntities,
} from '../memory/memory.ts';
import { findNewTravel } from './travel.ts';
import {
  groupByCombination,
  findPartTest,
  rememberCombination,
  type SeenCombination,
  createNoveltyRating,
  type NoveltyRating,
} from './rate-novelty.ts';
import { namePlace } from '../rows/places.ts';
import { renderValue } from '../rows/render-row.ts';
import { rowsMin } from '../tuning-fields.ts';
import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits, truncateText } from '../../../platform/lib/text/canonical-text.ts';

const newValuesMax = 10;
/** The memory key under which each window lists a sample of its entities. */
export const entitiesKey = 'entities';

export const defaultHistoryDays = 30;
const historyDays = ({ tuning }: AnalysisDefinition): number => tuning?.historyDays ?? defaultHistoryDays;

export const occurrenceAnalysis: CategoryAnalysis = {
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
    return {
      want: 'known',
      since: computeLookbackStart(window, historyDays(definition) * dayMs),
      pairs,
      summaryKey: entitiesKey,
    };
  },
  *findCandidates(input) {
    if (isLearning(input.past)) return { findings: [], learning: true };
    return { findings: yield* findCandidates(input), learning: false };
  },
};

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
      ...(travel
        ? {
            travelFrom: namePlace(travel.from),
            travelTo: namePlace(travel.to),
            travelKm: travel.km,
            travelMinutes: travel.minutes,
            travelKmh: travel.kmh,
            impossibleTravel: travel.isImpossible,
          }
        : {}),
      historyDays: historyDays(input.definition),
      historyWindows: past.windows.length,
      enoughPast: history !== undefined,
    },
  });
}

function describeValues({ values }: SeenCombination): string {
  return truncateText(values.map(([name, value]) => `${name}=${renderValue(name, value) ?? ''}`).join(', '), 300);
}
