import { buildCandidate, computeRowsKindKey } from '../build-candidate.ts';
import type { Candidate, Severity } from '../candidate.ts';
import type { AnalysisInput, CategoryAnalysis, Finding } from '../category.ts';
import type { EntityGroup } from '../rows/group-rows.ts';
import { inOneStep, type Steps } from '../../../platform/lib/concurrency/slices.ts';

/** Makes every entity that the query returns a candidate, without memory. */
export function everyEntity(severity: Severity): CategoryAnalysis {
  return {
    usesHistory: false,
    lookbackMs: () => 0,
    buildMemory: () => inOneStep([]),
    buildMemoryQuery: ({ window }) => inOneStep({ want: 'nothing', since: window.from }),
    *findCandidates(input) {
      const findings: Finding[] = [];
      for (const group of input.groups) {
        yield;
        if (group.rows.length < rowsMin(input)) findings.push('belowMinimum');
        else findings.push(yield* findCandidate(input, group, severity));
      }
      return { findings, learning: false };
    },
  };
}

function* findCandidate(input: AnalysisInput, group: EntityGroup, severity: Severity): Steps<Candidate> {
  const kindKey = yield* computeRowsKindKey(input, group.rows);
  return yield* buildCandidate(input, group, { kindKey, severity, facts: {}, rows: group.rows });
}

const rowsMin = ({ definition }: AnalysisInput): number => definition.tuning?.minimumCount ?? 1;
