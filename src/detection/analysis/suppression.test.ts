import { describe, expect, test } from 'vitest';
import type { Candidate, Facts, Severity } from './candidate.ts';
import { candidatesOf, definitionOf } from '../../../test/support/detection/analysis-examples.ts';
import { computeSuppressionKey, decideSuppression, type SuppressionScope } from './suppression.ts';
import { computeGeneration } from './category-tuning.ts';

const scope: SuppressionScope = {
  detectionId: 'd',
  promptVersion: 1,
  model: 'analyst',
  tools: ['a', 'b'],
  schema: null,
  generation: 'g',
};
const [candidate] = candidatesOf([{ user: 'alice', _id: '1' }], definitionOf('custom')) as [Candidate];

test('the key changes with everything a verdict depends on, and with nothing else', () => {
  const key = computeSuppressionKey(scope, candidate);
  const others = [
    computeSuppressionKey({ ...scope, detectionId: 'e' }, candidate),
    computeSuppressionKey({ ...scope, promptVersion: 2 }, candidate),
    computeSuppressionKey({ ...scope, model: 'm' }, candidate),
    computeSuppressionKey({ ...scope, tools: ['a'] }, candidate),
    computeSuppressionKey({ ...scope, schema: '{}' }, candidate),
    computeSuppressionKey({ ...scope, generation: 'h' }, candidate),
    computeSuppressionKey(scope, { ...candidate, entity: 'bob' }),
    computeSuppressionKey(scope, { ...candidate, entityType: 'host' }),
    computeSuppressionKey(scope, { ...candidate, kind: 'privilege_escalation' }),
    computeSuppressionKey(scope, { ...candidate, facts: { ...candidate.facts, techniques: ['T1098'] } }),
  ];
  expect(new Set([key, ...others]).size).toBe(11);
  const same = {
    ...candidate,
    kindKey: 'custom:other rows',
    facts: { ...candidate.facts, count: 99, windowFrom: 'later' },
    rows: [],
  };
  expect(computeSuppressionKey({ ...scope, tools: ['b', 'a', 'b'] }, same)).toBe(key);
  const first = { ...candidate, kind: 'first_occurrence' as const };
  expect(computeSuppressionKey(scope, { ...first, kindKey: 'first_occurrence:other values' })).not.toBe(
    computeSuppressionKey(scope, first),
  );
});

describe('decides about a candidate with an earlier verdict', () => {
  const before: Facts = { count: 10, z: 4, valueKeys: ['v1', 'v2'] };
  const candidateWith = (severity: Severity, facts: Facts): Candidate => ({
    ...candidate,
    severity,
    facts: { ...before, ...facts },
  });
  const negative = { positive: false, facts: before, severity: 'low' as const };
  const positive = { positive: true, facts: before, severity: 'medium' as const };
  test.each([
    ['none', candidateWith('low', {}), undefined, 'judge'],
    ['negative, equal facts', candidateWith('low', {}), negative, 'negative'],
    ['negative, twice the count', candidateWith('low', { count: 20 }), negative, 'negative'],
    ['negative, more than twice the count', candidateWith('low', { count: 21 }), negative, 'judge'],
    ['negative, z 2 higher', candidateWith('low', { z: 6 }), negative, 'negative'],
    ['negative, z more than 2 higher', candidateWith('low', { z: 6.1 }), negative, 'judge'],
    ['negative, fewer values', candidateWith('low', { valueKeys: ['v2'] }), negative, 'negative'],
    ['negative, a new value', candidateWith('low', { valueKeys: ['v1', 'v3'] }), negative, 'judge'],
    ['negative, medium', candidateWith('medium', {}), negative, 'negative'],
    ['negative, high', candidateWith('high', {}), negative, 'judge'],
    ['negative, critical', candidateWith('critical', {}), negative, 'judge'],
    ['positive', candidateWith('medium', { count: 900, z: 90, valueKeys: ['v9'] }), positive, 'occurrence'],
    ['positive, more severe', candidateWith('high', {}), positive, 'judge'],
  ])('%s', (_name, current, known, decision) => {
    expect(decideSuppression(current, known)).toBe(decision);
  });
});

test('the generation changes with the fields that make windows incomparable', () => {
  const definition = definitionOf('custom');
  const changed = [
    { query: 'select 2' },
    { category: 'first_occurrence' as const },
    { entityField: 'u' },
    { timeField: 't' },
    { connectionId: 'c' },
    { cadence: '0 0 * * *' },
  ];
  const generations = changed.map((change) => computeGeneration({ ...definition, ...change }));
  expect(new Set([computeGeneration(definition), ...generations]).size).toBe(7);
  expect(computeGeneration({ ...definition, slotMs: 5 })).toBe(computeGeneration(definition));
});
