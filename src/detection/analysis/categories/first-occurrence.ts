import type { Facts } from '../candidate.ts';
import type { Category } from '../category.ts';
import { peerDefaults } from '../tuning-fields.ts';
import {
  countOf,
  describeTime,
  joinQuoted,
  numberOf,
  quoteCharsMax,
  quoteValues,
  readList,
  readNumber,
} from '../wording.ts';
import { defaultHistoryDays, occurrenceAnalysis } from './occurrence-analysis.ts';

/** Finds entities with a combination of values that they showed in no window of the last 30 days, or of `tuning.historyDays`. */
export const firstOccurrence: Category = {
  ...occurrenceAnalysis,
  label: 'First occurrence',
  description: `An entity is judged when it shows values not seen in any window of the last ${defaultHistoryDays} days.`,
  neededColumns: [],
  needsRowTimes: false,
  tuning: {
    defaults: { ...peerDefaults, minimumCount: 1, historyDays: defaultHistoryDays },
    remembered: [],
    instead: {
      'peers.by':
        'A first occurrence counts others with the same combination of values, so let the query return the column.',
    },
  },
  judgesEachKind: true,
  confidence: (facts) =>
    50 +
    Math.min(20, numberOf(facts, 'entityWindows')) +
    (facts['otherEntities'] === 0 ? 15 : 0) -
    (facts['enoughPast'] === true ? 0 : 20),
  describeHeadline({ facts, subject: { plain } }) {
    const [first] = quoteValues(readList(facts, 'newValues').slice(0, 1), quoteCharsMax.headline);
    const others = Number(facts['newCombinations']) - 1;
    const more = others > 0 ? ` and ${others} other${others === 1 ? '' : 's'}` : '';
    return first === undefined
      ? `${plain}, with values never seen before`
      : `${plain}, for the first time with ${first}${more}`;
  },
  describeFinding({ facts, subject: { quoted, start } }) {
    const values = joinQuoted(quoteValues(readList(facts, 'newValues'), quoteCharsMax.values).slice(0, 3));
    const combinations = countOf(facts, 'newCombinations', 'combination');
    const history =
      facts['firstSeen'] === null
        ? 'There is no earlier record of the entity itself in that time.'
        : `The entity was first seen on ${describeTime(facts, 'firstSeen')} and has occurred in ${countOf(facts, 'entityWindows', 'window')}.`;
    const others =
      facts['otherEntities'] === 0
        ? 'No other entity has had all of these values.'
        : `Other entities with the rarest of these values: ${readNumber(facts, 'otherEntities')}.`;
    return {
      finding: `${start} had ${combinations} of values${values === '' ? '' : ` (${values})`} not seen in the previous ${readNumber(facts, 'historyDays')} days`,
      details: [history, ...describeTravel(facts), others],
      nextStep: `Ask the person responsible for ${quoted} whether this was intended, and check what else happened around that time.`,
    };
  },
  evidenceNote: ', in a combination that is new for this entity',
  draft: {
    rule: `an entity with values not seen in ${defaultHistoryDays} days: return few columns`,
    hasFewColumns: true,
    findsInFirstWindow: true,
  },
};

function describeTravel(facts: Facts): string[] {
  const [from, to] = [facts['travelFrom'], facts['travelTo']];
  if (typeof from !== 'string' || typeof to !== 'string' || facts['impossibleTravel'] !== true) return [];
  const gap = `${readNumber(facts, 'travelMinutes')} minutes or less`;
  return [
    `${from} and ${to} are at least ${readNumber(facts, 'travelKm')} km apart, with ${gap} in between, faster than any flight.`,
  ];
}
