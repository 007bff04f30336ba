import type { Candidate, Facts } from '../analysis/candidate.ts';
import { actionsOf } from './evidence.ts';

const quoteMax = 80;
const listMax = 200;

/** Headline, summary and next step in words, made of the facts and of values that stand in the rows, and of nothing else. */
export type Wording = { headline: string; summary: string; nextStep: string };

export function wordingOf(candidate: Candidate): Wording {
  const who = whoIs(candidate);
  const { headline, told, nextStep } = wordings[candidate.kind](candidate, who);
  const done = actionsOf(candidate)
    .map(quote)
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

const wordings: Record<Candidate['kind'], (candidate: Candidate, who: string) => Told> = {
  first_occurrence: ({ facts }, who) => {
    const fresh = listOf(facts, 'newValues')
      .map((value) => quote(value, listMax))
      .filter((value) => value !== '');
    const known =
      facts['firstSeen'] === null
        ? 'The entity itself was not seen before in that time.'
        : `The entity itself is known since ${textOf(facts, 'firstSeen')}, with ${plural(facts, 'entityWindows', 'window')}.`;
    const others =
      facts['otherEntities'] === 0
        ? 'No other entity showed it either.'
        : `Other entities that showed it: ${numberText(facts, 'otherEntities')}.`;
    return {
      headline: fresh.length > 0 ? `${who}: first occurrence of ${fresh[0]}` : `${who}: first occurrence`,
      told: `${who} showed ${plural(facts, 'newCombinations', 'combination')} of values not seen from it in the ${numberText(facts, 'historyDays')} days before${fresh.length > 0 ? `: ${fresh.slice(0, 3).join('; ')}` : ''}. ${known} ${others}`,
      nextStep: `Ask whoever is responsible for ${who} whether this was intended, and look at what else happened around it.`,
    };
  },
  baseline_anomaly: ({ facts }, who) => {
    const count = numberText(facts, 'count');
    const against =
      facts['comparedWith'] === 'other entities'
        ? `of the other entities in this window, ${numberText(facts, 'peers')} in number`
        : `of ${plural(facts, 'samples', 'earlier window')}${facts['comparedWith'] === 'same hour' ? ' at the same time of a like day' : ''}`;
    return {
      headline: `${who}: ${count} where ${numberText(facts, 'median')} is usual`,
      told: `The number of ${who} in this window is ${count}. The median ${against} is ${numberText(facts, 'median')}; the number lies ${numberText(facts, 'z')} robust deviations above it.`,
      nextStep: `Look at what makes up the number, and whether a planned job or a change explains the rise for ${who}.`,
    };
  },
  sequence_pattern: ({ facts }, who) => ({
    headline: `${who}: all ${numberText(facts, 'steps')} steps of the sequence in order`,
    told: `The rows of ${who} run through all ${numberText(facts, 'steps')} steps of the sequence in order, from ${textOf(facts, 'firstStepAt')} to ${textOf(facts, 'lastStepAt')}.${facts['sequences'] === 1 ? '' : ` The sequence was completed ${numberText(facts, 'sequences')} times.`}`,
    nextStep: `Go through the steps in order, find out who or what acted as ${who}, and contain it unless all of them were intended.`,
  }),
  privilege_escalation: (candidate, who) => ({
    headline: `${who}: possible privilege escalation${firstAction(candidate)}`,
    told: `The detection found ${plural(candidate.facts, 'rows', 'row')} in which ${who} gained or granted rights.`,
    nextStep: `Check whether ${who} was meant to gain or grant these rights, and take them back if not.`,
  }),
  custom: (candidate, who) => ({
    headline: `${who}: matched the detection${firstAction(candidate)}`,
    told: `The detection's query returned ${plural(candidate.facts, 'rows', 'row')} about ${who}.`,
    nextStep: `Read the rows of ${who} against the purpose of the detection.`,
  }),
};

function whoIs({ entity, entityType }: Candidate): string {
  if (entity === '*') return 'the whole window';
  return entityType === 'entity' ? entity : `${entityType.replaceAll('_', ' ')} ${entity}`;
}

function firstAction(candidate: Candidate): string {
  const action = quote(actionsOf(candidate)[0] ?? '');
  return action === '' ? '' : ` (${action})`;
}

function techniques(facts: Facts): string {
  const named = listOf(facts, 'techniques');
  return named.length > 0 ? `The detection names ${named.join(', ')}.` : '';
}

/** A value short enough for a sentence. It is cut between words only: half a name or address would be another one. */
function quote(value: string, max = quoteMax): string {
  if (value.length <= max) return value;
  const end = value.slice(0, max + 1).search(/[\s,;]\S*$/);
  return end > 0 ? `${value.slice(0, end).replace(/[,;]$/, '')} …` : '';
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
