import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundAnswer } from './create-mcp-server.ts';

test('an answer has at most the given characters', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 60, max: 2000 }), (value, charsMax) => {
      const { value: bounded, isShortened } = boundAnswer(value, charsMax);
      expect(JSON.stringify(bounded).length).toBeLessThanOrEqual(charsMax);
      if (!isShortened) expect(bounded).toEqual(value);
    }),
  );
});

test.each([
  ['a small value', { a: ['b', 1, null] }, { a: ['b', 1, null] }],
  ['a long text', { a: 'x'.repeat(50_000) }, { a: `${'x'.repeat(8000)}… (42000 more characters)` }],
  ['a long list', Array(300).fill(1), [...Array(200).fill(1), '… (100 more)']],
  ['half of a character', `${'x'.repeat(7999)}💥💥`, `${'x'.repeat(7999)}\uFFFD… (3 more characters)`],
])('keeps what fits of %s', (_case, value, expected) => {
  expect(boundAnswer(value).value).toEqual(expected);
});

test('shortens every list of a large answer and keeps its form', () => {
  const rows = Array.from({ length: 1000 }, (_, n) => ({ n, text: 'y'.repeat(500) }));
  const { value, isShortened } = boundAnswer({ rows, total: 1000 });
  expect(isShortened).toBe(true);
  expect(value).toMatchObject({ rows: expect.arrayContaining([expect.objectContaining({ n: 0 })]), total: 1000 });
});
