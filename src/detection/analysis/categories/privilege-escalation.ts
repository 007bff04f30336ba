import type { Category } from '../category.ts';
import { countOf } from '../wording.ts';
import { everyEntity } from './every-entity.ts';

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
