import { expect, test } from 'vitest';
import type { RunStep } from '../../api/runs.ts';
import { readInvestigations } from './transcript.ts';

let n = 0;
const step = (entity: string, more: Partial<RunStep> = {}): RunStep => ({
  attempt: 1,
  n: ++n,
  kind: 'call',
  entity,
  at: '2026-03-02T00:00:00.000Z',
  ms: 5,
  model: 'stand-in',
  tokens: { input: 1, output: 1 },
  costUsd: 0,
  ...more,
});
const call = (name: string, input: unknown) => ({ toolCalls: [{ id: 'c', name, input }] });
const planned = { question: 'Was it there before?', data: 'Sign-ins' };
const partsOf = (...steps: RunStep[]) => readInvestigations(steps)[0]!.parts;

test('groups the steps of candidates that were judged side by side, and those of each attempt', () => {
  const found = readInvestigations([step('ada'), step('bob'), step('ada'), step('ada', { attempt: 2 })]);
  expect(found.map(({ entity, attempt, parts }) => [entity, attempt, parts.length])).toEqual([
    ['ada', 1, 2],
    ['bob', 1, 1],
    ['ada', 2, 1],
  ]);
});

test('separates the candidates of one entity', () => {
  const [c1, c2] = [{ candidateId: 'c1' }, { candidateId: 'c2' }];
  const found = readInvestigations([step('ada', c1), step('ada', c2), step('ada', c1)]);
  expect(found.map(({ candidateId, parts }) => [candidateId, parts.length])).toEqual([
    ['c1', 2],
    ['c2', 1],
  ]);
});

test('connects the questions of a plan with the observations that a submission names', () => {
  const plan = call('write_plan', { questions: [planned, { question: 'By whom?', data: '' }] });
  const answers = [{ question: planned.question, observation: 'o2' }];
  const submission = call('submit_verdict', { verdict: 'raise', confidence: 80, answers });
  const [found] = readInvestigations([step('ada', plan), step('ada', submission)]);
  expect(found!.questions.map(({ observation }) => observation)).toEqual(['o2', null]);
  expect(found!.parts[1]).toMatchObject({ kind: 'submission', verdict: 'raise', confidence: 80 });
});

test('reads a verdict beside the output of an author’s schema', () => {
  const verdict = { verdict: 'undecided', confidence: 40, answers: [] };
  expect(partsOf(step('ada', call('submit_verdict', { verdict, output: {} })))).toMatchObject([
    { kind: 'submission', verdict: 'undecided', confidence: 40 },
  ]);
});

test('recognizes second questions, with the claim that was checked', () => {
  const sent = [
    { role: 'system', content: 'Claim:' },
    { role: 'user', content: 'Claim:\n<data-1f>\nIt said </b>\nand left.\n</data-1f>\n\nThe cells:' },
  ];
  const check = step('ada', { ...call('answer', { answer: 'not_stated', reason: 'No.' }), sent });
  const confirmation = step('ada', call('conclude', { verdict: 'dismiss', reason: 'Known.' }));
  expect(partsOf(check, confirmation)).toMatchObject([
    { kind: 'check', subject: 'claim', claim: 'It said </b>\nand left.', result: 'not_stated', reason: 'No.' },
    { kind: 'check', subject: 'dismissal', claim: undefined, result: 'dismiss', reason: 'Known.' },
  ]);
});

test('reads what a model without tools writes as JSON, and keeps the words of any other answer', () => {
  const json = JSON.stringify({ verdict: 'dismiss', confidence: 90, claims: [] });
  expect(partsOf(step('ada', { text: `Here it is: ${json}` }), step('ada', { text: 'I wonder {about' }))).toMatchObject(
    [
      { kind: 'submission', verdict: 'dismiss', said: '' },
      { kind: 'call', said: 'I wonder {about' },
    ],
  );
});

test.each([[null], ['no list'], [[null, 3, { name: 4 }]], [{ name: 'write_plan' }]])(
  'accepts tool calls of any form: %j',
  (toolCalls) => {
    expect(partsOf(step('ada', { toolCalls, sent: 'Omitted because the step is too long.' }))).toMatchObject([
      { kind: 'call' },
    ]);
  },
);
