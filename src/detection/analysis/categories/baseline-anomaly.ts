import type { Facts } from '../candidate.ts';
import type { Category } from '../category.ts';
import { peerDefaults } from '../tuning-fields.ts';
import { countOf, describeMeasure, numberOf, readNumber } from '../wording.ts';
import { baselineAnalysis, defaultBaselineDays } from './baseline-analysis.ts';

/** Finds entities with a number far above their own history or, for a new entity, far above the other entities of the window. */
export const baselineAnomaly: Category = {
  ...baselineAnalysis,
  label: 'Baseline anomaly',
  description: 'An entity is judged when its count is far above its own baseline.',
  neededColumns: [],
  needsRowTimes: false,
  tuning: {
    defaults: {
      ...peerDefaults,
      minimumCount: null,
      minimumIncrease: 0,
      historyDays: defaultBaselineDays,
      'peers.by': null,
    },
    remembered: ['peers.by'],
    instead: {},
  },
  judgesEachKind: false,
  confidence: (facts) => 45 + Math.min(40, 4 * (numberOf(facts, 'z') - 3.5)) + (facts['enoughPast'] === true ? 5 : -15),
  describeHeadline: ({ facts, subject }) =>
    `${subject.plain} had ${describeMeasure(facts)}, usually ${readNumber(facts, 'median')}`,
  describeFinding: ({ facts, subject: { quoted, start } }) => ({
    finding: `${start} had ${describeMeasure(facts)}, where ${readNumber(facts, 'median')} is usual (median ${describeBaseline(facts)}, robust z-score ${readNumber(facts, 'z')})`,
    details: describeRating(facts),
    nextStep: `Find out what caused the increase for ${quoted}, for example a scheduled job or a change.`,
  }),
  evidenceNote: '',
  draft: { rule: 'a column count per entity', hasFewColumns: false, findsInFirstWindow: false },
};

function describeBaseline(facts: Facts): string {
  if (facts['comparedWith'] === 'other entities')
    return `of the ${readNumber(facts, 'peers')} other entities in this window`;
  const hours = facts['comparedWith'] === 'same hour' ? ' at the same hour of comparable days' : '';
  return `of ${countOf(facts, 'samples', 'earlier window')}${hours}`;
}

const lowReasons: Record<string, string> = {
  chance: 'At this time of the week, such a number is to be expected by chance.',
  'own history': 'The entity has had such an increase before.',
  recurring: 'The entity has such an increase at regular intervals, like a recurring job.',
  'peers now': 'At least half of the other entities increased at the same time.',
  'peers before': 'Other entities have had such an increase before.',
};

/** Describes a drift, and why the increase is rated low. */
function describeRating(facts: Facts): string[] {
  const drift =
    facts['driftWindows'] === undefined
      ? []
      : [
          `Together with it, ${countOf(facts, 'driftWindows', 'consecutive window')} were high (z-score ${readNumber(facts, 'driftZ')}).`,
        ];
  return [...drift, lowReasons[String(facts['lowBecause'])] ?? []].flat();
}
