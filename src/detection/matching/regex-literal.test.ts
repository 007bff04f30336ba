import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRegex } from './compile-test.ts';
import { foldCase } from './fold-case.ts';
import { requiredLiteral } from './regex-literal.ts';

test.each([
  ['mimikatz', 'mimikatz'],
  [String.raw`\\Temp\\.*\.EXE$`, String.raw`\temp` + '\\'],
  [String.raw`^(cmd|pwsh).*&&\s?clip\.exe`, 'clip.exe'],
  ['ab+c?de', 'ab'],
  ['abc{2,3}d', 'ab'],
  ['x{,3}', '{,3}'.slice(1)],
  ['[]a]bc[^x]d', 'bc'],
  ['a|b', undefined],
  ['(a|b)', undefined],
  [String.raw`\Qa.b\E`, undefined],
  [String.raw`\x41b`, undefined],
  ['[[:alpha:]]bc', undefined],
  ['.*', undefined],
])('%s requires %s', (source, expected) => {
  expect(requiredLiteral(source, [])).toBe(expected);
});

test('a text that matches without regard to case may have another letter instead of s', () => {
  expect(compileRegex('set', ['i'])('\u017fet')).toBe(true);
  expect(requiredLiteral('set', ['i'])).toBe('et');
  expect(requiredLiteral('(?i)set', [])).toBe('et');
  expect(requiredLiteral('set', [])).toBe('set');
});

test('every text that matches contains the required one', () => {
  const plain = ['a', 'B', 's', 'k', '.', '.*', '^', '$', '(ab|c)', '(?:a)', '[ab]', '[^]a]', '?', '+', '*', '{2}'];
  const others = [
    '{,2}',
    String.raw`\.`,
    String.raw`\s`,
    String.raw`\\`,
    String.raw`\b`,
    '(?i)',
    '|',
    'é',
    '(',
    ')',
    ']',
  ];
  const piece = fc.constantFrom(...plain, ...others);
  const source = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  const value = fc.array(fc.constantFrom(...'aAbBcsSſkKé.\\ {},2'), { maxLength: 8 }).map((list) => list.join(''));
  let matched = 0;
  fc.assert(
    fc.property(source, value, fc.constantFrom([], ['i'], ['m', 's']), (regex, text, flags) => {
      let matches;
      try {
        matches = compileRegex(regex, flags);
      } catch {
        return;
      }
      if (!matches(text)) return;
      const literal = requiredLiteral(regex, flags);
      if (literal === undefined) return;
      matched += 1;
      expect(foldCase(text)).toContain(literal);
    }),
    { numRuns: 20_000 },
  );
  expect(matched).toBeGreaterThan(100);
});
