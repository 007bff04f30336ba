import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRegex } from './compile-expression.ts';
import { foldCase } from './text-pattern.ts';
import { listRequiredTexts, requiredLiterals } from './regex-literal.ts';

test.each([
  ['mimikatz', 'mimikatz'],
  [String.raw`\\Temp\\.*\.EXE$`, String.raw`\temp` + '\\'],
  [String.raw`^(cmd|pwsh).*&&\s?clip\.exe`, 'clip.exe'],
  ['ab+c?de', 'ab'],
  ['abc{2,3}d', 'ab'],
  ['x{,3}', '{,3}'.slice(1)],
  ['[]a]bc[^x]d', 'bc'],
  ['a|b', ['a', 'b']],
  ['(?:tool|agent)(?:32|64)?[.]exe', ['tool', 'agent']],
  ['(?:tool|agent)?[.]exe', 'exe'],
  ['(?:tool|agent){0,2}.x', 'x'],
  ['(?:tool|.*)y', 'y'],
  ['(?:tool|.*)', undefined],
  ['a|', undefined],
  ['(?P<name>ab)c', ['ab']],
  ['(a))b', undefined],
  [String.raw`\Qa.b\E`, undefined],
  [String.raw`\x41b`, undefined],
  ['[[:alpha:]]bc', undefined],
  ['.*', undefined],
])('%s requires %s', (source, expected) => {
  expect(requiredLiterals(source, [])).toEqual(typeof expected === 'string' ? [expected] : expected);
});

test('lists all texts that an expression requires, and those of which one is required', () => {
  expect(listRequiredTexts(String.raw`(set).*&&\s?(?:a|b)*(in|out)\)`, [])).toEqual([
    ['set'],
    ['&&'],
    ['in', 'out'],
    [')'],
  ]);
});

test('a text that matches without regard to case may have another letter instead of s', () => {
  expect(compileRegex('set', ['i'])('\u017fet')).toBe(true);
  expect(requiredLiterals('set', ['i'])).toEqual(['et']);
  expect(requiredLiterals('(?i)set', [])).toEqual(['et']);
  expect(requiredLiterals('set', [])).toEqual(['set']);
});

test('every text that matches contains one of the required ones', () => {
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
      const lists = listRequiredTexts(regex, flags);
      if (lists.length === 0) return;
      matched += 1;
      for (const texts of lists) expect(texts.some((one) => foldCase(text).includes(one))).toBe(true);
      expect(lists).toContainEqual(requiredLiterals(regex, flags));
    }),
    { numRuns: 20_000 },
  );
  expect(matched).toBeGreaterThan(100);
});
