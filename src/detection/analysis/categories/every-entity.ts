import { buildCandidate, computeRowsKindKey } from '../build-candidate.ts';
import type { Severity } from '../candidate.ts';
import type { CategoryAnalysis } from '../category.ts';

/** Makes every entity that the query returns a candidate, without memory. */
export function everyEntity(severity: Severity): CategoryAnalysis {
  return {
    usesHistory: false,
    lookbackMs: () => 0,
    buildMemory: () => [],
    buildMemoryQuery: ({ window }) => ({ want: 'nothing', since: window.from }),
    findCandidates: (input) => ({
      learning: false,
      candidates: input.groups.map((group) =>
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
