import { buildCandidate, computeRowsKindKey } from '../build-candidate.ts';
import type { Severity } from '../candidate.ts';
import type { AnalysisInput, CategoryAnalysis } from '../category.ts';

/** Makes every entity that the query returns a candidate, without memory. */
export function everyEntity(severity: Severity): CategoryAnalysis {
  return {
    usesHistory: false,
    lookbackMs: () => 0,
    buildMemory: () => [],
    buildMemoryQuery: ({ window }) => ({ want: 'nothing', since: window.from }),
    findCandidates: (input) => ({
      learning: false,
      candidates: input.groups.values().map((group) => {
        if (group.rows.length < rowsMin(input)) return 'belowMinimum';
        return buildCandidate(input, group, {
          kindKey: computeRowsKindKey(input, group.rows),
          severity,
          facts: {},
          rows: group.rows,
        });
      }),
    }),
  };
}

const rowsMin = ({ definition }: AnalysisInput): number => definition.tuning?.minimumCount ?? 1;
