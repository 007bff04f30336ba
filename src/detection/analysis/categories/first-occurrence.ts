import { hash } from 'node:crypto';
import { buildCandidate } from '../build-candidate.ts';
import type { AnalysisInput, CategoryAnalysis, Finding } from '../category.ts';
import { dayMs } from '../analysis-definition.ts';
import { memoizePerGroup, type GroupedRow, type EntityGroup } from '../rows/group-rows.ts';
import {
  isLearning,
  buildPairKey,
  computeLookbackStart,
  type MemoryPair,
  type RecalledMemory,
} from '../memory/memory.ts';
import { chooseEntities } from '../memory/sample-entities.ts';
import { appendToList } from '../memory/recall.ts';
import { createNoveltyRating, type NoveltyRating } from './rate-novelty.ts';
import { renderValue } from '../rows/render-row.ts';
import { severityRules } from '../severity.ts';
import { firstOccurrenceDays } from '../tuning/tuning-defaults.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits, truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { hashValues, extractValues } from '../rows/row-values.ts';

const newValuesMax = 10;
/** The memory key under which each window lists a sample of its entities. */
export const entitiesKey = 'entities';

/** Finds entities with a combination of values that they showed in no window of the last 30 days, or of `tuning.historyDays`. */
export const firstOccurrence: CategoryAnalysis = {
  usesHistory: true,
  lookbackMs: (definition) => firstOccurrenceDays(definition) * dayMs,
  *buildMemory({ groups }) {
    return [
      ...(yield* listPairs(groups)).map((pair) => ({ ...pair, number: null, value: null })),
      ...chooseEntities(groups.map(({ entity }) => entity)).map((entity) => ({
        key: entitiesKey,
        entity,
        number: null,
        value: String(groups.length),
      })),
    ];
  },
  *buildMemoryQuery({ groups, window, definition }) {
    return {
      want: 'known',
      since: computeLookbackStart(window, firstOccurrenceDays(definition) * dayMs),
      pairs: yield* listPairs(groups),
      summaryKey: entitiesKey,
    };
  },
  *findCandidates(input) {
    if (isLearning(input.past)) return { findings: [], learning: true };
    return { findings: yield* findCandidates(input), learning: false };
  },
};

function* listPairs(groups: readonly EntityGroup[]): Steps<MemoryPair[]> {
  const pairs: MemoryPair[] = [];
  for (const group of groups)
    for (const key of (yield* groupByValues(group)).keys()) pairs.push({ key, entity: group.entity });
  return pairs;
}

const groupByValues = memoizePerGroup(function* ({ rows }) {
  const byValues = new Map<string, GroupedRow[]>();
  for (const row of rows) {
    yield;
    appendToList(byValues, hashValues(extractValues(row.row, row.field)), row);
  }
  return byValues;
});

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
  const unseen = [...(yield* groupByValues(group))].filter(
    ([key]) => !past.known.has(buildPairKey({ key, entity: group.entity })),
  );
  if (unseen.length === 0) return undefined;
  const keys = unseen.map(([key]) => key).toSorted(compareCodeUnits);
  const rows = unseen.flatMap(([, sameRows]) => sameRows);
  if (rows.length < (input.definition.tuning?.minimumCount ?? 1)) return 'belowMinimum';
  const history = past.entityHistories.get(group.entity);
  const rating = rateNovelty(group.entity, keys);
  const newValues = yield* mapInSteps(unseen, ([, sameRows]) => describeValues(sameRows[0]!));
  return yield* buildCandidate(input, group, {
    kindKey: `first_occurrence:${hash('sha256', keys.join())}`,
    severity: severityRules.firstOccurrence[history && !rating.expectedBecause ? 'entityKnown' : 'entityNew'],
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
      historyDays: firstOccurrenceDays(input.definition),
      historyWindows: past.windows.length,
      enoughPast: history !== undefined,
    },
  });
}

function describeValues({ row, field }: GroupedRow): string {
  const values = extractValues(row, field).map(([name, value]) => `${name}=${renderValue(name, value) ?? ''}`);
  return truncateText(values.join(', '), 300);
}
