import type { Category } from '../category.ts';
import { describeSteps, describeTimeRange, numberOf, quoteCharsMax, quoteValues, readNumber } from '../wording.ts';
import { defaultSequenceHours } from './rate-sequence.ts';
import { sequenceAnalysis } from './sequence-analysis.ts';

/** Finds entities whose rows complete all steps of a sequence in order within 24 hours, or `tuning.sequenceHours`. */
export const sequencePattern: Category = {
  ...sequenceAnalysis,
  label: 'Sequence',
  description: 'An entity is judged when it completes the steps in order within a day.',
  neededColumns: [
    {
      column: 'step',
      code: 'no_steps',
      detail: 'No row has a `step` column. Return it with the step number, starting at 1.',
    },
  ],
  needsRowTimes: true,
  tuning: {
    defaults: { sensitivity: 'medium', minimumCount: 1, sequenceHours: defaultSequenceHours },
    remembered: ['sequenceHours'],
    instead: {},
  },
  judgesEachKind: false,
  confidence: (facts) => 50 + 10 * numberOf(facts, 'steps'),
  describeHeadline({ facts, subject, listActions }) {
    const actions = quoteValues(listActions(), quoteCharsMax.action).join(', ');
    return `${subject.plain} completed ${describeSteps(facts)} in order${actions === '' ? '' : ` (${actions})`}`;
  },
  describeFinding: ({ facts, subject: { quoted, start } }) => ({
    finding: `${start} completed ${describeSteps(facts)} in order, from ${describeTimeRange(facts, 'firstStepAt', 'lastStepAt')}`,
    details: facts['sequences'] === 1 ? [] : [`The sequence was completed ${readNumber(facts, 'sequences')} times.`],
    nextStep: `Review the steps in order, find out who or what acted as ${quoted}, and contain it unless every step was intended.`,
  }),
  evidenceNote: '',
  draft: { rule: 'a column step from 1', hasFewColumns: false, findsInFirstWindow: true },
};
