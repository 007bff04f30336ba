import { describe, expect, test } from 'vitest';
import type { Candidate, Facts, Severity } from './candidate.ts';
import { candidatesOf, definitionOf } from '../../../test/support/detection/analysis-examples.ts';
import { suppressionKey, suppressionOf, type SuppressionScope } from './suppression.ts';
import { generationOf } from './analysis-definition.ts';

const scope: SuppressionScope = {
  detectionId: 'd',
  promptVersion: 1,
  model: 'analyst',
  tools: ['a', 'b'],
  schema: null,
  generation: 'g',
};
const [candidate] = candidatesOf([{ user: 'alice', _id: '1' }], definitionOf('custom')) as [Candidate];

test('the key moves with everything that a verdict depends on, and with nothing else', () => {
  const key = suppressionKey(scope, candidate);
  const others = [
    suppressionKey({ ...scope, detectionId: 'e' }, candidate),
    suppressionKey({ ...scope, promptVersion: 2 }, candidate),
    suppressionKey({ ...scope, model: 'm' }, candidate),
    suppressionKey({ ...scope, tools: ['a'] }, candidate),
    suppressionKey({ ...scope, schema: '{}' }, candidate),
    suppressionKey({ ...scope, generation: 'h' }, candidate),
    suppressionKey(scope, { ...candidate, entity: 'bob' }),
    suppressionKey(scope, { ...candidate, entityType: 'host' }),
    suppressionKey(scope, { ...candidate, kind: 'privilege_escalation' }),
    suppressionKey(scope, { ...candidate, facts: { ...candidate.facts, techniques: ['T1098'] } }),
  ];
  expect(new Set([key, ...others]).size).toBe(11);
  const same = {
    ...candidate,
    kindKey: 'custom:other rows',
    facts: { ...candidate.facts, count: 99, windowFrom: 'later' },
    rows: [],
  };
  expect(suppressionKey({ ...scope, tools: ['b', 'a', 'b'] }, same)).toBe(key);
  const first = { ...candidate, kind: 'first_occurrence' as const };
  expect(suppressionKey(scope, { ...first, kindKey: 'first_occurrence:other values' })).not.toBe(
    suppressionKey(scope, first),
  );
});

describe('a known verdict', () => {
  const before: Facts = { count: 10, z: 4, valueKeys: ['v1', 'v2'] };
  const of = (severity: Severity, facts: Facts): Candidate => ({
    ...candidate,
    severity,
    facts: { ...before, ...facts },
  });
  const negative = { positive: false, facts: before, severity: 'low' as const };
  const positive = { positive: true, facts: before, severity: 'medium' as const };
  test.each([
    ['none', of('low', {}), undefined, 'judge'],
    ['negative, the same', of('low', {}), negative, 'negative'],
    ['negative, twice the count', of('low', { count: 20 }), negative, 'negative'],
    ['negative, over twice', of('low', { count: 21 }), negative, 'judge'],
    ['negative, z 2 more', of('low', { z: 6 }), negative, 'negative'],
    ['negative, z over 2 more', of('low', { z: 6.1 }), negative, 'judge'],
    ['negative, fewer values', of('low', { valueKeys: ['v2'] }), negative, 'negative'],
    ['negative, a new value', of('low', { valueKeys: ['v1', 'v3'] }), negative, 'judge'],
    ['negative, medium', of('medium', {}), negative, 'negative'],
    ['negative, high', of('high', {}), negative, 'judge'],
    ['negative, critical', of('critical', {}), negative, 'judge'],
    ['positive', of('medium', { count: 900, z: 90, valueKeys: ['v9'] }), positive, 'occurrence'],
    ['positive, more severe', of('high', {}), positive, 'judge'],
  ])('%s', (_name, now, known, answer) => {
    expect(suppressionOf(now, known)).toBe(answer);
  });
});

test('the generation moves with what makes windows incomparable', () => {
  const definition = definitionOf('custom');
  const changed = [
    { query: 'select 2' },
    { category: 'first_occurrence' as const },
    { entityField: 'u' },
    { timeField: 't' },
    { connectionId: 'c' },
    { cadence: '0 0 * * *' },
  ];
  const generations = changed.map((change) => generationOf({ ...definition, ...change }));
  expect(new Set([generationOf(definition), ...generations]).size).toBe(7);
  expect(generationOf({ ...definition, slotMs: 5 })).toBe(generationOf(definition));
});
