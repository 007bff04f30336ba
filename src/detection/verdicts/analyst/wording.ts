import type { Candidate, Facts } from '../../analysis/candidate.ts';
import { actionsOf } from './evidence.ts';
import { quoteLengths, quoteValue } from './quote-value.ts';

/** Headline, summary and next step in words, made of the facts and of values that stand in the rows, and of nothing else. */
export type Wording = { headline: string; summary: string; nextStep: string };

export function wordingOf(candidate: Candidate): Wording {
  const who = whoIs(candidate);
  const start = opening(candidate, who);
  const { headline, told, nextStep } = wordings[candidate.kind](candidate, who, start);
  const done = actionsOf(candidate)
    .map((action) => quoteValue(action, quoteLengths.action))
    .filter((action) => action !== '');
  const summary = [
    told,
    done.length > 0 ? `What was done: ${done.join(', ')}.` : '',
    techniques(candidate.facts),
    `The window is ${textOf(candidate.facts, 'windowFrom')} to ${textOf(candidate.facts, 'windowTo')}.`,
  ];
  return { headline, summary: summary.filter((part) => part !== '').join(' '), nextStep };
}

type Told = { headline: string; told: string; nextStep: string };

const wordings: Record<Candidate['kind'], (candidate: Candidate, who: string, start: string) => Told> = {
  first_occurrence: ({ facts }, who, start) => {
    const fresh = listOf(facts, 'newValues')
      .map((value) => quoteValue(value, quoteLengths.values))
      .filter((value) => value !== '');
    const known =
      facts['firstSeen'] === null
        ? 'The entity itself was not seen before in that time.'
        : `The entity itself is known since ${textOf(facts, 'firstSeen')}, with ${plural(facts, 'entityWindows', 'window')}.`;
    const others =
      facts['otherEntities'] === 0
        ? 'No other entity showed it either.'
        : `Other entities that showed it: ${numberText(facts, 'otherEntities')}.`;
    const first = quoteValue(listOf(facts, 'newValues')[0] ?? '', quoteLengths.action);
    return {
      headline: first !== '' ? `${start}: first occurrence of ${first}` : `${start}: first occurrence`,
      told: `${start} showed ${plural(facts, 'newCombinations', 'combination')} of values not seen from it in the ${numberText(facts, 'historyDays')} days before${fresh.length > 0 ? `: ${fresh.slice(0, 3).join('; ')}` : ''}. ${known} ${others}`,
      nextStep: `Ask whoever is responsible for ${who} whether this was intended, and look at what else happened around it.`,
    };
  },
  baseline_anomaly: ({ facts }, who, start) => {
    const count = numberText(facts, 'count');
    const against =
      facts['comparedWith'] === 'other entities'
        ? `of the other entities in this window, ${numberText(facts, 'peers')} in number`
        : `of ${plural(facts, 'samples', 'earlier window')}${facts['comparedWith'] === 'same hour' ? ' at the same time of a like day' : ''}`;
    return {
      headline: `${start}: ${count} where ${numberText(facts, 'median')} is usual`,
      told: `The number of ${who} in this window is ${count}. The median ${against} is ${numberText(facts, 'median')}; the number lies ${numberText(facts, 'z')} robust deviations above it.`,
      nextStep: `Look at what makes up the number, and whether a planned job or a change explains the rise for ${who}.`,
    };
  },
  sequence_pattern: ({ facts }, who, start) => ({
    headline: `${start}: all ${numberText(facts, 'steps')} steps of the sequence in order`,
    told: `The rows of ${who} run through all ${numberText(facts, 'steps')} steps of the sequence in order, from ${textOf(facts, 'firstStepAt')} to ${textOf(facts, 'lastStepAt')}.${facts['sequences'] === 1 ? '' : ` The sequence was completed ${numberText(facts, 'sequences')} times.`}`,
    nextStep: `Go through the steps in order, find out who or what acted as ${who}, and contain it unless all of them were intended.`,
  }),
  privilege_escalation: (candidate, who, start) => ({
    headline: `${start}: possible privilege escalation${firstAction(candidate)}`,
    told: `The detection found ${plural(candidate.facts, 'rows', 'row')} in which ${who} gained or granted rights.`,
    nextStep: `Check whether ${who} was meant to gain or grant these rights, and take them back if not.`,
  }),
  custom: (candidate, who, start) => ({
    headline: `${start}: matched the detection${firstAction(candidate)}`,
    told: `The detection's query returned ${plural(candidate.facts, 'rows', 'row')} about ${who}.`,
    nextStep: `Read the rows of ${who} against the purpose of the detection.`,
  }),
};

const typeLabels: Record<string, string> = { ip: 'IP address', access_key: 'access key', url: 'URL' };

function whoIs({ entity, entityType }: Candidate): string {
  if (entity === '*') return 'the whole window';
  return entityType === 'entity' ? entity : `${typeLabels[entityType] ?? entityType} ${entity}`;
}

/** At the start of a sentence. The entity's own name is left as it is. */
function opening({ entityType }: Candidate, who: string): string {
  return entityType === 'entity' && who !== 'the whole window' ? who : who.charAt(0).toUpperCase() + who.slice(1);
}

function firstAction(candidate: Candidate): string {
  const action = quoteValue(actionsOf(candidate)[0] ?? '', quoteLengths.action);
  return action === '' ? '' : ` (${action})`;
}

function techniques(facts: Facts): string {
  const named = listOf(facts, 'techniques');
  return named.length > 0 ? `The detection names ${named.join(', ')}.` : '';
}

function plural(facts: Facts, name: string, noun: string): string {
  return `${numberText(facts, name)} ${noun}${facts[name] === 1 ? '' : 's'}`;
}

function numberText(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === 'number' ? String(value) : 'an unknown number';
}

function textOf(facts: Facts, name: string): string {
  const value = facts[name];
  return typeof value === 'string' ? value : 'an unknown time';
}

function listOf(facts: Facts, name: string): string[] {
  const value = facts[name];
  return Array.isArray(value) ? value.map(String) : [];
}
