import type { Candidate, Facts } from '../../analysis/candidate.ts';
import type { DetectionTexts } from '../detection-texts.ts';
import { listActions } from './evidence.ts';
import { countOf, readList, readNumber, readText } from './fact-values.ts';
import { writeHeadline } from './headline.ts';
import { joinQuoted, quoteCharsMax, quoteValues } from './quote-value.ts';
import { nameSubject, type Subject } from './subject.ts';

/** The texts of a verdict. They contain only facts, values from the rows, and the name and the headline of the detection. */
export type VerdictWording = { headline: string; summary: string; nextStep: string };

/** Writes the texts of the built-in analyst's verdict. */
export function describeCandidate(candidate: Candidate, detection: DetectionTexts): VerdictWording {
  const { finding, nextStep } = findings[candidate.kind](candidate, nameSubject(candidate));
  const actions = quoteValues(listActions(candidate), quoteCharsMax.action);
  const { facts } = candidate;
  const summary = [
    finding,
    actions.length > 0 ? `${actions.length === 1 ? 'The action was' : 'The actions were'} ${joinQuoted(actions)}.` : '',
    describeTechniques(facts),
    `The window was ${readText(facts, 'windowFrom')} to ${readText(facts, 'windowTo')}.`,
  ];
  return {
    headline: writeHeadline(candidate, detection),
    summary: summary.filter((part) => part !== '').join(' '),
    nextStep,
  };
}

type Finding = { finding: string; nextStep: string };

const findings: Record<Candidate['kind'], (candidate: Candidate, subject: Subject) => Finding> = {
  first_occurrence: ({ facts }, { quoted, start }) => {
    const values = quoteValues(readList(facts, 'newValues'), quoteCharsMax.values).slice(0, 3);
    const list = values.length > 0 ? `: ${joinQuoted(values)}` : '';
    const history =
      facts['firstSeen'] === null
        ? 'The entity itself did not occur in that period.'
        : `The entity was first seen at ${readText(facts, 'firstSeen')} and occurred in ${countOf(facts, 'entityWindows', 'window')}.`;
    const others =
      facts['otherEntities'] === 0
        ? 'No other entity had all of these values.'
        : `Other entities with the rarest of these values: ${readNumber(facts, 'otherEntities')}.`;
    return {
      finding: `${start} had ${countOf(facts, 'newCombinations', 'combination')} of values that did not occur in the previous ${readNumber(facts, 'historyDays')} days${list}. ${history} ${others}`,
      nextStep: `Ask the person responsible for ${quoted} whether this was intended, and check what else happened around that time.`,
    };
  },
  baseline_anomaly: ({ facts }, { quoted }) => ({
    finding: `The ${facts['unit'] === 'rows' ? 'number of rows' : 'value'} of ${quoted} was ${readNumber(facts, 'count')}. The median ${describeBaseline(facts)} is ${readNumber(facts, 'median')}, and the robust z-score is ${readNumber(facts, 'z')}.`,
    nextStep: `Find out what caused the increase for ${quoted}, for example a scheduled job or a change.`,
  }),
  sequence_pattern: ({ facts }, { quoted, start }) => {
    const repeats =
      facts['sequences'] === 1 ? '' : ` The sequence was completed ${readNumber(facts, 'sequences')} times.`;
    return {
      finding: `${start} completed all ${readNumber(facts, 'steps')} steps of the sequence in order, from ${readText(facts, 'firstStepAt')} to ${readText(facts, 'lastStepAt')}.${repeats}`,
      nextStep: `Review the steps in order, find out who or what acted as ${quoted}, and contain it unless every step was intended.`,
    };
  },
  privilege_escalation: ({ facts }, { quoted, start }) => ({
    finding: `${start} gained or granted privileges in ${countOf(facts, 'rows', 'row')} of the log.`,
    nextStep: `Check whether ${quoted} was supposed to gain or grant these privileges, and revoke them if not.`,
  }),
  custom: ({ facts }, { quoted }) => ({
    finding: `The log has ${countOf(facts, 'rows', 'row')} of this kind about ${quoted}.`,
    nextStep: `Find out who or what caused this on ${quoted} and whether it was intended.`,
  }),
};

function describeBaseline(facts: Facts): string {
  if (facts['comparedWith'] === 'other entities')
    return `of the ${readNumber(facts, 'peers')} other entities in this window`;
  const hours = facts['comparedWith'] === 'same hour' ? ' at the same hour of comparable days' : '';
  return `of ${countOf(facts, 'samples', 'earlier window')}${hours}`;
}

function describeTechniques(facts: Facts): string {
  const techniques = readList(facts, 'techniques');
  return techniques.length > 0 ? `The detection refers to ${techniques.join(', ')}.` : '';
}
