import { buildCandidate, rowsKindKey } from '../build-candidate.ts';
import type { Severity } from '../candidate.ts';
import type { CategoryAnalysis } from '../category.ts';

/** The query itself decides: each entity that it returns is a candidate. Nothing is remembered. */
export function everyEntity(severity: Severity): CategoryAnalysis {
  return {
    usesHistory: false,
    reachMs: () => 0,
    remember: () => [],
    recall: ({ window }) => ({ want: 'nothing', since: window.from }),
    candidates: (input) => ({
      learning: false,
      candidates: input.groups.map((group) =>
        buildCandidate(input, group, {
          kindKey: rowsKindKey(input, group.rows),
          severity,
          facts: {},
          rows: group.rows,
        }),
      ),
    }),
  };
}
