import { buildCandidate, computeRowsKindKey } from '../build-candidate.ts';
import type { Severity } from '../candidate.ts';
import type { AnalysisInput, CategoryAnalysis } from '../category.ts';
import type { EntityGroup } from '../rows/group-rows.ts';

/** Makes every entity that the query returns a candidate, without memory. */
export function everyEntity(severity: Severity): CategoryAnalysis {
  return {
    usesHistory: false,
    lookbackMs: () => 0,
    buildMemory: () => [],
    buildMemoryQuery: ({ window }) => ({ want: 'nothing', since: window.from }),
    findCandidates: (input) => ({
      learning: false,
      candidates: filterGroups(input)
        .values()
        .map((group) =>
          buildCandidate(input, group, {
            kindKey: computeRowsKindKey(input, group.rows),
            severity,
            facts: {},
            rows: group.rows,
          }),
        ),
    }),
  };
}

function filterGroups({ groups, definition }: AnalysisInput): readonly EntityGroup[] {
  const rowsMin = definition.tuning?.minimumCount ?? 1;
  return groups.filter(({ rows }) => rows.length >= rowsMin);
}
