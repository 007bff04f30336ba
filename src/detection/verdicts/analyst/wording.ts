import type { Candidate, Facts } from '../../analysis/candidate.ts';
import { listActions } from './evidence.ts';
import { quoteCharsMax, quoteValue } from './quote-value.ts';

/** The texts of a verdict. They contain only facts and values from the rows. */
export type VerdictWording = { headline: string; summary: string; nextStep: string };

/** Writes the texts of the built-in analyst's verdict. */
export function describeCandidate(candidate: Candidate): VerdictWording {
  const subject = nameSubject(candidate);
  const { headline, finding, nextStep } = findings[candidate.kind](candidate, subject, capitalize(candidate, subject));
  const actions = listActions(candidate)
    .map((action) => quoteValue(action, quoteCharsMax.action))
    .filter((action) => action !== '');
  const summary = [
    finding,
    actions.length > 0 ? `Actions: ${actions.join(', ')}.` : '',
    describeTechniques(candidate.facts),
    `Window: ${readText(candidate.facts, 'windowFrom')} to ${readText(candidate.facts, 'windowTo')}.`,
  ];
  return { headline, summary: summary.filter((part) => part !== '').join(' '), nextStep };
}

type Finding = { headline: string; finding: string; nextStep: string };

/** `subject` names the entity within a sentence, `start` at its beginning. */
type DescribeFinding = (candidate: Candidate, subject: string, start: string) => Finding;

const findings: Record<Candidate['kind'], DescribeFinding> = {
  first_occurrence: ({ facts }, subject, start) => {
    const newValues = readList(facts, 'newValues');
    const quoted = newValues.map((value) => quoteValue(value, quoteCharsMax.values)).filter((value) => value !== '');
    const first = quoteValue(newValues[0] ?? '', quoteCharsMax.action);
    const entityHistory =
      facts['firstSeen'] === null
        ? 'The entity itself did not occur in that period.'
        : `The entity was first seen at ${readText(facts, 'firstSeen')} and occurred in ${countOf(facts, 'entityWindows', 'window')}.`;
    const others =
      facts['otherEntities'] === 0
        ? 'No other entity had all of these values.'
        : `Other entities with the rarest of these values: ${readNumber(facts, 'otherEntities')}.`;
    const list = quoted.length > 0 ? `: ${quoted.slice(0, 3).join('; ')}` : '';
    return {
      headline: first !== '' ? `${start}: first occurrence of ${first}` : `${start}: first occurrence`,
      finding: `${start} had ${countOf(facts, 'newCombinations', 'combination')} of values that did not occur in the previous ${readNumber(facts, 'historyDays')} days${list}. ${entityHistory} ${others}`,
      nextStep: `Ask the person responsible for ${subject} whether this was intended, and check what else happened around that time.`,
    };
  },
  baseline_anomaly: ({ facts }, subject, start) => {
    const value = readNumber(facts, 'count');
    const median = readNumber(facts, 'median');
    return {
      headline: `${start}: ${value}, usually ${median}`,
      finding: `The value for ${subject} is ${value}. The median ${describeBaseline(facts)} is ${median}, and the robust z-score is ${readNumber(facts, 'z')}.`,
      nextStep: `Find out what caused the increase for ${subject}, for example a scheduled job or a change.`,
    };
  },
  sequence_pattern: ({ facts }, subject, start) => {
    const steps = readNumber(facts, 'steps');
    const repeats =
      facts['sequences'] === 1 ? '' : ` The sequence was completed ${readNumber(facts, 'sequences')} times.`;
    return {
      headline: `${start}: all ${steps} steps of the sequence in order`,
      finding: `The rows of ${subject} match all ${steps} steps of the sequence in order, from ${readText(facts, 'firstStepAt')} to ${readText(facts, 'lastStepAt')}.${repeats}`,
      nextStep: `Review the steps in order, find out who or what acted as ${subject}, and contain it unless every step was intended.`,
    };
  },
  privilege_escalation: (candidate, subject, start) => ({
    headline: `${start}: possible privilege escalation${quoteFirstAction(candidate)}`,
    finding: `The detection found ${countOf(candidate.facts, 'rows', 'row')} in which ${subject} gained or granted privileges.`,
    nextStep: `Check whether ${subject} was supposed to gain or grant these privileges, and revoke them if not.`,
  }),
  custom: (candidate, subject, start) => ({
    headline: `${start}: matched the detection${quoteFirstAction(candidate)}`,
    finding: `The detection's query returned ${countOf(candidate.facts, 'rows', 'row')} about ${subject}.`,
    nextStep: `Review the rows of ${subject} in light of the detection's purpose.`,
  }),
};

function describeBaseline(facts: Facts): string {
  if (facts['comparedWith'] === 'other entities')
    return `of the ${readNumber(facts, 'peers')} other entities in this window`;
  const hours = facts['comparedWith'] === 'same hour' ? ' at the same hour of comparable days' : '';
  return `of ${countOf(facts, 'samples', 'earlier window')}${hours}`;
}

const typeLabels: Record<string, string> = { ip: 'IP address', access_key: 'access key', url: 'URL' };

function nameSubject({ entity, entityType }: Candidate): string {
  if (entity === '*') return 'the whole window';
  return entityType === 'entity' ? entity : `${typeLabels[entityType] ?? entityType} ${entity}`;
}

/** Capitalizes the subject for the start of a sentence, unless it starts with the entity's own name. */
function capitalize({ entityType }: Candidate, subject: string): string {
  if (entityType === 'entity' && subject !== 'the whole window') return subject;
  return subject.charAt(0).toUpperCase() + subject.slice(1);
}

function quoteFirstAction(candidate: Candidate): string {
  const action = quoteValue(listActions(candidate)[0] ?? '', quoteCharsMax.action);
  return action === '' ? '' : ` (${action})`;
}

function describeTechniques(facts: Facts): string {
  const techniques = readList(facts, 'techniques');
  return techniques.length > 0 ? `The detection refers to ${techniques.join(', ')}.` : '';
}

function countOf(facts: Facts, name: string, noun: string): string {
  return `${readNumber(facts, name)} ${noun}${facts[name] === 1 ? '' : 's'}`;
}

function readNumber(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === 'number' ? String(value) : 'an unknown number';
}

function readText(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === 'string' ? value : 'an unknown time';
}

function readList(facts: Facts, name: string): string[] {
  const value = facts[name];
  return Array.isArray(value) ? value.map(String) : [];
}
