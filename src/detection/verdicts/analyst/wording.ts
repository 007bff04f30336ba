import type { Candidate, Facts } from '../../analysis/candidate.ts';
import type { DetectionTexts } from '../detection-texts.ts';
import { listActions } from './evidence.ts';
import {
  countOf,
  describeMeasure,
  describeSteps,
  describeTime,
  describeTimeRange,
  readList,
  readNumber,
} from './fact-values.ts';
import { writeHeadline } from './headline.ts';
import { joinQuoted, quoteCharsMax, quoteValues } from './quote-value.ts';
import { nameSubject, type Subject } from './subject.ts';

/** The texts of a verdict. They contain only facts, values from the rows, and the name and the headline of the detection. */
export type VerdictWording = { headline: string; summary: string; nextStep: string };

/** Writes the texts of the built-in analyst's verdict. */
export function describeCandidate(candidate: Candidate, detection: DetectionTexts): VerdictWording {
  const { facts } = candidate;
  const { finding, details = [], nextStep } = findings[candidate.kind](candidate, nameSubject(candidate));
  const actions = joinQuoted(quoteValues(listActions(candidate), quoteCharsMax.action));
  const techniques = readList(facts, 'techniques');
  const summary = [
    `${finding}${actions === '' ? '' : `: ${actions}`}.`,
    ...details,
    techniques.length === 0 ? '' : `The detection maps this to ${techniques.join(', ')}.`,
    `The window was ${describeTimeRange(facts, 'windowFrom', 'windowTo')}.`,
  ];
  return {
    headline: writeHeadline(candidate, detection),
    summary: summary.filter((part) => part !== '').join(' '),
    nextStep,
  };
}

/** `finding` is a sentence without its full stop. The actions of the rows follow it. `details` are whole sentences. */
type Finding = { finding: string; details?: string[]; nextStep: string };

const findings: Record<Candidate['kind'], (candidate: Candidate, subject: Subject) => Finding> = {
  first_occurrence: ({ facts }, { quoted, start }) => {
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
  baseline_anomaly: ({ facts }, { quoted, start }) => ({
    finding: `${start} had ${describeMeasure(facts)}, where ${readNumber(facts, 'median')} is usual (median ${describeBaseline(facts)}, robust z-score ${readNumber(facts, 'z')})`,
    details: describeRating(facts),
    nextStep: `Find out what caused the increase for ${quoted}, for example a scheduled job or a change.`,
  }),
  sequence_pattern: ({ facts }, { quoted, start }) => ({
    finding: `${start} completed ${describeSteps(facts)} in order, from ${describeTimeRange(facts, 'firstStepAt', 'lastStepAt')}`,
    details: facts['sequences'] === 1 ? [] : [`The sequence was completed ${readNumber(facts, 'sequences')} times.`],
    nextStep: `Review the steps in order, find out who or what acted as ${quoted}, and contain it unless every step was intended.`,
  }),
  privilege_escalation: ({ facts }, { quoted, start }) => ({
    finding: `${start} gained or granted privileges in ${countOf(facts, 'rows', 'row')}`,
    nextStep: `Check whether ${quoted} was supposed to gain or grant these privileges, and revoke them if not.`,
  }),
  custom: ({ facts }, { quoted }) => ({
    finding: `The query found ${countOf(facts, 'rows', 'row')} for ${quoted}`,
    nextStep: `Find out who or what caused this on ${quoted} and whether it was intended.`,
  }),
};

function describeTravel(facts: Facts): string[] {
  const [from, to] = [facts['travelFrom'], facts['travelTo']];
  if (typeof from !== 'string' || typeof to !== 'string' || facts['impossibleTravel'] !== true) return [];
  const gap = `${readNumber(facts, 'travelMinutes')} minutes or less`;
  return [
    `${from} and ${to} are at least ${readNumber(facts, 'travelKm')} km apart, with ${gap} in between, faster than any flight.`,
  ];
}

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
