import { runAtOnce } from '../../../platform/lib/concurrency/slices.ts';
import { expect, test } from 'vitest';
import { definitionOf, hour } from '../../../../test/support/detection/analysis-examples.ts';
import type { QueryRow } from '../../siem/connector.ts';
import { analyzeWindow, prepareWindow } from '../analyze-window.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import type { Candidate } from '../candidate.ts';
import { recallFromWindows, type WindowMemory } from '../memory/recall.ts';

/** Returns the candidates of the last hour, after all others have filled memory. */
function analyzeLast(definition: AnalysisDefinition, hours: readonly QueryRow[][]): Candidate[] {
  const memory: WindowMemory[] = [];
  let candidates: Candidate[] = [];
  for (const [index, rows] of hours.entries()) {
    const prepared = runAtOnce(prepareWindow(rows, hour(index), definition));
    candidates = runAtOnce(
      analyzeWindow(prepared, runAtOnce(recallFromWindows(memory, hour(index), prepared.query))),
    ).candidates;
    memory.push({ ...hour(index), entries: prepared.memory });
  }
  return candidates;
}

const hours = (count: number, rowsOf: (index: number) => QueryRow[]): QueryRow[][] =>
  Array.from({ length: count }, (_, index) => rowsOf(index));

const first = definitionOf('first_occurrence', { query: 'select 1' });
const row = (user: string, what: string): QueryRow => ({ user, what });

test.each([
  ['news for an entity that is settled', 'medium', undefined, 100, () => [], [row('ann', 'new')]],
  [
    'expected if three others have shown it',
    'low',
    'peers',
    100,
    () => ['bob', 'cem', 'dan'].map((user) => row(user, 'new')),
    [row('ann', 'new')],
  ],
  [
    'news if only two others have shown it',
    'medium',
    undefined,
    100,
    () => ['bob', 'cem'].map((user) => row(user, 'new')),
    [row('ann', 'new')],
  ],
  ['expected of an entity in few windows', 'low', 'young entity', 100, () => [], [row('eve', 'new')]],
  [
    'expected of an entity that showed another one some days before',
    'low',
    'often new',
    140,
    (index: number) => (index === 60 ? [row('ann', 'other')] : []),
    [row('ann', 'new')],
  ],
  [
    'expected if others often show one',
    'low',
    'often new for others',
    340,
    (index: number) => [
      ...['bob', 'cem', 'dan', 'eli'].map((user) => row(user, 'usual')),
      ...(index % 100 > 60 && index % 10 === 0 ? [row(['bob', 'cem', 'dan', 'eli'][index % 4]!, `${index}`)] : []),
    ],
    [row('ann', 'new')],
  ],
  [
    'news in a burst, however often the entity shows new values',
    'medium',
    undefined,
    140,
    (index: number) => (index === 60 ? [row('ann', 'other')] : []),
    ['1', '2', '3', '4', '5'].map((what) => row('ann', what)),
  ],
] as const)('a new value is %s', (_name, severity, expectedBecause, count, more, last) => {
  const past = hours(count, (index) => [
    row('ann', 'usual'),
    ...(index > 97 ? [row('eve', 'usual')] : []),
    ...more(index),
  ]);
  const [candidate] = analyzeLast(first, [...past, [...last]]);
  expect(candidate).toMatchObject({ severity });
  expect(candidate?.facts['expectedBecause']).toBe(expectedBecause);
});

test('without peers, what others show does not matter', () => {
  const past = hours(100, () => [row('ann', 'usual'), ...['bob', 'cem', 'dan'].map((user) => row(user, 'new'))]);
  const definition = { ...first, tuning: { peers: { minimum: 0 } } };
  expect(analyzeLast(definition, [...past, [row('ann', 'new')]])[0]).toMatchObject({ severity: 'medium' });
});

const baseline = definitionOf('baseline_anomaly', { query: 'select 1' });
const count = (user: string, number: number): QueryRow => ({ user, count: number });
/** Two users with a peak of 60 every `every` hours. */
const peaks = (every: number) =>
  hours(400, (index) =>
    ['ann', 'bob'].map((user, n) => count(user, (index + n * 7) % every === 0 ? 60 : 5 + (index % 3))),
  );

test.each([
  ['is high if nothing like it happened before', peaks(1000), 90, {}, 'high'],
  ['is low if the entity had as much before', peaks(150), 70, {}, 'low'],
  ['is no candidate if as much happens every day', peaks(20), 60, {}, undefined],
  ['is high again with high sensitivity', peaks(20), 61, { sensitivity: 'high' as const }, 'high'],
  ['is no candidate below the minimum count', peaks(1000), 90, { minimumCount: 100 }, undefined],
  ['is no candidate below the minimum increase', peaks(1000), 90, { minimumIncrease: 90 }, undefined],
])('an increase %s', (_name, past, number, tuning, severity) => {
  const found = analyzeLast({ ...baseline, tuning }, [...past, [count('ann', number), count('bob', 5)]]);
  expect(found.map((candidate) => candidate.severity)).toEqual(severity === undefined ? [] : [severity]);
});

const sequence = definitionOf('sequence_pattern', { query: 'SELECT 3 AS step' });
const steps = (user: string, index: number, numbers = [1, 2, 3]): QueryRow[] =>
  numbers.map((step) => ({
    _id: `${user}-${index}-${step}`,
    _time: new Date(hour(index).from.getTime() + step * 60_000).toISOString(),
    user,
    step,
  }));

test.each([
  ['is high if none completed before', () => [], 'high'],
  ['is medium if one completed before', (index: number) => (index === 20 ? steps('bob', index) : []), 'medium'],
  ['is low if others complete it every day', (index: number) => (index % 20 === 0 ? steps('bob', index) : []), 'low'],
  [
    'is low if others complete it every day over several hours',
    (index: number) => steps('bob', index, index % 20 < 3 ? [(index % 20) + 1] : []),
    'low',
  ],
  [
    'is high if others only do its steps in another order',
    (index: number) => steps('bob', index, index % 60 < 3 ? [3 - (index % 60)] : []),
    'high',
  ],
  ['is high if it only happened today', (index: number) => (index > 190 ? steps('bob', index) : []), 'high'],
])('a sequence %s', (_name, rowsOf, severity) => {
  const past = hours(200, rowsOf);
  expect(analyzeLast(sequence, [...past, steps('ann', 200)])[0]).toMatchObject({ severity });
});

test('an increase is low if three entities that the window does not contain had one', () => {
  const others = ['bob', 'cem', 'dan'];
  const past = hours(300, (index) => [
    count('ann', 5),
    ...(index < 200 ? others.map((user, n) => count(user, index === 50 + n ? 90 : 5)) : []),
  ]);
  const severityOf = (tuning: AnalysisDefinition['tuning']) =>
    analyzeLast({ ...baseline, tuning: tuning ?? {} }, [...past, [count('ann', 90)]])[0]?.severity;
  expect(severityOf({})).toBe('low');
  expect(severityOf({ peers: { minimum: 4 } })).toBe('high');
});

test('entities that always have as much excuse nothing', () => {
  const past = hours(300, (index) => [
    count('ann', 5),
    ...['bob', 'cem', 'dan'].filter(() => index < 200).map((user) => count(user, 90)),
  ]);
  expect(analyzeLast(baseline, [...past, [count('ann', 90)]])[0]?.severity).toBe('high');
  const present = hours(300, () => [count('ann', 5), ...['bob', 'cem', 'dan'].map((user) => count(user, 90))]);
  expect(analyzeLast(baseline, [...present, [count('ann', 90)]])[0]?.severity).toBe('high');
});

test('with peer groups, an increase is compared with the group of the entity only', () => {
  const usersOf = (department: string, numberOf: (n: number) => number) =>
    [1, 2, 3].map((n) => ({ user: `${department}${n}`, department, count: numberOf(n) }));
  const past = hours(300, (index) => [
    { user: 'ann', department: 'sales', count: 5 },
    ...usersOf('it', (n) => (index === 50 * n ? 90 : 5)).slice(0, index < 200 ? 3 : 0),
    ...usersOf('sales', () => 5),
  ]);
  const last = { user: 'ann', department: 'sales', count: 90 };
  const severityOf = (tuning: NonNullable<AnalysisDefinition['tuning']>) =>
    analyzeLast({ ...baseline, tuning }, [...past, [last]])[0]?.severity;
  expect(severityOf({})).toBe('low');
  expect(severityOf({ peers: { by: 'Department' } })).toBe('high');
});
