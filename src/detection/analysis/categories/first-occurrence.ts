import { hash } from 'node:crypto';
import type { Candidate } from '../candidate.ts';
import { buildCandidate } from '../build-candidate.ts';
import type { AnalysisInput, CategoryAnalysis } from '../category.ts';
import { dayMs } from '../analysis-definition.ts';
import { oncePerGroup, type EntityRow, type Group } from '../rows/group-rows.ts';
import { isLearning, pairKey, sinceOf, type MemoryPair, type PastMemory } from '../memory/memory.ts';
import { renderValue } from '../rows/render.ts';
import { severityRules } from '../severity.ts';
import { compareCodeUnits, truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { valuesKey, valuesOf } from '../rows/values.ts';

const historyDays = 30;
const newValuesMax = 10;

/** An entity shows a combination of values that it showed in no window of the last 30 days. */
export const firstOccurrence: CategoryAnalysis = {
  usesHistory: true,
  reachMs: () => historyDays * dayMs,
  remember: ({ groups }) => pairsOf(groups).map((pair) => ({ ...pair, number: null, value: null })),
  recall: ({ groups, window }) => ({
    want: 'known',
    since: sinceOf(window, historyDays * dayMs),
    pairs: pairsOf(groups),
  }),
  candidates: (input) => {
    if (isLearning(input.past)) return { candidates: [], learning: true };
    return { candidates: input.groups.flatMap((group) => candidateOf(input, group) ?? []), learning: false };
  },
};

function pairsOf(groups: readonly Group[]): MemoryPair[] {
  return groups.flatMap((group) => [...rowsByKey(group).keys()].map((key) => ({ key, entity: group.entity })));
}

const rowsByKey = oncePerGroup((group) =>
  Map.groupBy(group.rows, ({ row, field }: EntityRow) => valuesKey(valuesOf(row, field))),
);

function candidateOf(input: AnalysisInput & { past: PastMemory }, group: Group): Candidate | undefined {
  const { past } = input;
  const fresh = [...rowsByKey(group)].filter(([key]) => !past.known.has(pairKey({ key, entity: group.entity })));
  if (fresh.length === 0) return undefined;
  const keys = fresh.map(([key]) => key).toSorted(compareCodeUnits);
  const rows = fresh.flatMap(([, own]) => own);
  const sight = past.sights.get(group.entity);
  return buildCandidate(input, group, {
    kindKey: `first_occurrence:${hash('sha256', keys.join())}`,
    severity: severityRules.firstOccurrence[sight ? 'entityKnown' : 'entityNew'],
    rows,
    facts: {
      count: rows.length,
      newValues: fresh
        .map(([, own]) => describe(own[0]!))
        .toSorted(compareCodeUnits)
        .slice(0, newValuesMax),
      newCombinations: fresh.length,
      firstSeen: sight ? new Date(sight.firstSeen).toISOString() : null,
      entityWindows: sight?.windows ?? 0,
      otherEntities: Math.min(...keys.map((key) => past.holders.get(key) ?? 0)),
      historyDays,
      historyWindows: past.windows.length,
      enoughPast: sight !== undefined,
    },
  });
}

function describe({ row, field }: EntityRow): string {
  const values = valuesOf(row, field).map(([name, value]) => `${name}=${renderValue(name, value) ?? ''}`);
  return truncateText(values.join(', '), 300);
}
