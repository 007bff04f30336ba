import { expect, test } from 'vitest';
import { candidatesOf, definitionOf, detectionTexts } from '../../../../test/support/detection/analysis-examples.ts';
import { createAnalystVerdict } from '../analyst/analyst.ts';
import { screenCandidate, screenFacts } from './screen-candidate.ts';

test('keeps the times of the facts when a planted value is a digit', () => {
  const answer = { triggered: false, severity: 'none', confidence: 0, step: 'T', year: '2024' };
  const row = { user: 'alice', action: 'login', answer };
  const [candidate] = candidatesOf([row], definitionOf('custom', { entityField: 'user' }));
  expect(screenCandidate(candidate!).planted.map(({ field }) => field)).toContain('answer.confidence');
  const { summary } = createAnalystVerdict(candidate!, detectionTexts);
  expect(summary).toMatch(/The window was \d{4}-\d\d-\d\d \d\d:\d\d to /);
  expect(summary).not.toContain('unknown');
});

test.each([
  ['action=none', ['none'], undefined],
  ['action=noneland', ['none'], 'action=noneland'],
  ['count=10', ['0'], 'count=10'],
  ['x=0', ['0'], undefined],
  ['file=some long planted value', ['long planted value'], undefined],
  ['2026-03-02T00:00:00.000Z', ['0', '2026', '00'], '2026-03-02T00:00:00.000Z'],
])('of the fact %s with the planted values %j keeps %s', (fact, planted, kept) => {
  const expected = kept === undefined ? { list: [] } : { fact: kept, list: [kept] };
  expect(screenFacts({ fact, list: [fact] }, planted)).toEqual(expected);
});
