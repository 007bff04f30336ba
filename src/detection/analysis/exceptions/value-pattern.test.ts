import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from './value-pattern.ts';

/** The definition of a pattern as a regular expression, which is too slow for untrusted patterns. */
const expected = (pattern: string, text: string): boolean => {
  const escaped = pattern
    .trim()
    .toLowerCase()
    .split('*')
    .map((part) => RegExp.escape(part));
  return new RegExp(`^${escaped.join('[^]*')}$`).test(text.trim().toLowerCase());
};

test('agrees with the definition on any pattern and text', () => {
  const some = fc.string({ unit: fc.constantFrom('a', 'B', 'b', '*', '.', ' '), maxLength: 8 });
  fc.assert(
    fc.property(some, some, (pattern, text) => {
      expect(compilePattern(pattern)(text)).toBe(expected(pattern, text));
    }),
    { numRuns: 2000 },
  );
});

test('a pattern with many wildcards takes no time on a long text', () => {
  expect(compilePattern('*a'.repeat(2000) + '*b')(`${'a'.repeat(100_000)}c`)).toBe(false);
});
