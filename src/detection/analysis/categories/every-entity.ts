import { buildCandidate, computeRowsKindKey } from '../build-candidate.ts';
import type { Candidate, Severity } from '../candidate.ts';
import { type AnalysisInput, type Category, type Finding, rowsMin } from '../category.ts';
import { countOf } from '../wording.ts';
import type { EntityGroup } from '../rows/group-rows.ts';
import { inOneStep, type Steps } from '../../../platform/lib/concurrency/slices.ts';

type EveryEntity = Omit<Category, 'label' | 'confidence' | 'describeHeadline' | 'describeFinding'>;

/** Makes every entity that the query returns a candidate, without memory. */
const everyEntity = (severity: Severity): EveryEntity => ({
  description: 'Every entity that the query returns is judged.',
  usesHistory: false,
  lookbackMs: () => 0,
  buildMemory: () => inOneStep([]),
  buildMemoryQuery: ({ window }) => inOneStep({ want: 'nothing', since: window.from }),
  *findCandidates(input) {
    const findings: Finding[] = [];
    for (const group of input.groups) {
      yield;
      if (group.rows.length < rowsMin(input.definition)) findings.push('belowMinimum');
      else findings.push(yield* findCandidate(input, group, severity));
    }
    return { findings, learning: false };
  },
  neededColumns: [],
  needsRowTimes: false,
  tuning: { defaults: { minimumCount: 1 }, remembered: [], instead: {} },
  judgesEachKind: false,
  evidenceNote: '',
  followUps: ['same_address', 'what_else', 'since_when', 'known_here', 'related_hits', 'known_to_feed', 'where_from'],
  draft: { rule: 'every row counts', hasFewColumns: false, findsInFirstWindow: true },
});

function* findCandidate(input: AnalysisInput, group: EntityGroup, severity: Severity): Steps<Candidate> {
  const kindKey = yield* computeRowsKindKey(input, group.rows);
  return yield* buildCandidate(input, group, { kindKey, severity, facts: {}, rows: group.rows });
}

/** The query alone decides which entities are judged. */
export const custom: Category = {
  ...everyEntity('medium'),
  label: 'Custom',
  confidence: () => 60,
  describeHeadline: ({ subject, describeAction }) => `${subject.plain}${describeAction()}`,
  describeFinding: ({ facts, subject: { quoted } }) => ({
    finding: `The query found ${countOf(facts, 'rows', 'row')} for ${quoted}`,
    nextStep: `Find out who or what caused this on ${quoted} and whether it was intended.`,
  }),
};

/** Like custom, for queries whose rows show that someone gains or grants rights. */
export const privilegeEscalation: Category = {
  ...everyEntity('high'),
  label: 'Privilege escalation',
  confidence: () => 70,
  describeHeadline: ({ subject, describeAction }) => `${subject.plain} gained or granted privileges${describeAction()}`,
  describeFinding: ({ facts, subject: { quoted, start } }) => ({
    finding: `${start} gained or granted privileges in ${countOf(facts, 'rows', 'row')}`,
    nextStep: `Check whether ${quoted} was supposed to gain or grant these privileges, and revoke them if not.`,
  }),
};
