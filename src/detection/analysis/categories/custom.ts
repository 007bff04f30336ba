import type { Category } from '../category.ts';
import { countOf } from '../wording.ts';
import { everyEntity } from './every-entity.ts';

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
