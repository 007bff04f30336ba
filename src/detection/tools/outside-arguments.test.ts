import { expect, test } from 'vitest';
import { createResult, toRow } from './tool-result.ts';
import { collectKnownValues, findUnknownArgument } from './outside-arguments.ts';

const candidate = {
  entity: 'eve',
  rows: [{ rowId: 'r1', time: null, fields: { ip: '203.0.113.9', command: 'curl evil.top' } }],
  facts: { count: 412, isNew: true, values: ['sha'], none: null },
};
const found = createResult({
  rows: [toRow('1', { user: 'mallory', planted: 'all secrets' })],
  kindOf: (name) => (name === 'user' ? 'value' : 'other'),
});

test('the values of the case and of results are known, except for those that a query can contain', () => {
  const known = collectKnownValues(candidate, [found]);
  for (const value of ['eve', '203.0.113.9', 'curl evil.top', '412', 'sha', 'mallory'])
    expect(known.has(value)).toBe(true);
  for (const value of ['all secrets', 'evil.top', 'true', 'null']) expect(known.has(value)).toBe(false);
});

const schema = {
  properties: {
    ip: { type: 'string' },
    scope: { enum: ['short', 'long'] },
    options: {
      type: 'object',
      properties: { limit: { anyOf: [{ const: 10 }, { const: 50 }] }, tags: { items: { enum: ['a'] } } },
    },
  },
};
const known = collectKnownValues(candidate);

test.each([
  { ip: '203.0.113.9' },
  { ip: '203.0.113.9', scope: 'long', options: { limit: 50, tags: ['a', 'eve'] } },
  { options: { limit: 412 }, ip: null },
  { scope: true },
  undefined,
])('%j has known values only', (input) => {
  expect(findUnknownArgument(input, known, schema)).toBeUndefined();
});

test.each([
  [{ ip: '203.0.113.90' }, '/ip'],
  [{ ip: 'eve at 203.0.113.9' }, '/ip'],
  [{ scope: 'wide' }, '/scope'],
  [{ options: { limit: 7 } }, '/options/limit'],
  [{ options: { tags: ['a', 'stolen'] } }, '/options/tags/1'],
  [{ ip: { stolen: 'eve' } }, '/ip/stolen'],
  [{ stolen: true }, '/stolen'],
  ['stolen', '/'],
])('%j has a value that a model made up at %s', (input, pointer) => {
  expect(findUnknownArgument(input, known, schema)).toBe(pointer);
});

test('a value nested without end is unknown', () => {
  let nested: unknown = 'eve';
  for (let depth = 0; depth < 50; depth++) nested = [nested];
  expect(findUnknownArgument(nested, known, schema)).toMatch(/^\/0/);
});
