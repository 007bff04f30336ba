import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refangText } from './refang-text.ts';

test.each([
  ['hxxp://evil[.]com/a', 'http://evil.com/a'],
  ['hXXps[:]//evil(.)com', 'https://evil.com'],
  ['hxxps[://]evil[dot]com', 'https://evil.com'],
  ['evil [.] com', 'evil.com'],
  ['evil{.}com and evil<.>com', 'evil.com and evil.com'],
  ['1.2.3[.]4', '1.2.3.4'],
  ['user[@]evil[.]com', 'user@evil.com'],
  ['evil\\.com', 'evil.com'],
  ['fxp[:]//host[.]net', 'ftp://host.net'],
  ['meow://evil.com and MXXP[:]//evil.com', 'http://evil.com and http://evil.com'],
  ['homeow://evil.com', 'homeow://evil.com'],
  ['hxxxps__evil.com, h[tt]ps://evil.com', 'https__evil.com, https://evil.com'],
  ['hxxp[hxxps[:]//evil.com', 'hxxp[https://evil.com'],
  ['ev\u200Bil.com', 'evil.com'],
  ['evil\u3002com', 'evil.com'],
  ['evil\uFF0Ecom', 'evil.com'],
  ['C:\\Users\\.ssh\\id', 'C:\\Users\\.ssh\\id'],
  ['a list [at] noon', 'a list [at] noon'],
])('%s reads as %s', (printed, clear) => {
  expect(refangText(printed).clear).toBe(clear);
});

test('maps spans of the refanged text to the original', () => {
  const text = 'see hxxp://evil[.]com/x and 1.2.3[.]4!';
  const { clear, origin, isDefanged } = refangText(text);
  for (const [found, printed] of [
    ['evil.com', 'evil[.]com'],
    ['http://evil.com/x', 'hxxp://evil[.]com/x'],
    ['1.2.3.4', '1.2.3[.]4'],
  ] as const) {
    const at = clear.indexOf(found);
    const { start, end } = origin(at, at + found.length);
    expect(text.slice(start, end)).toBe(printed);
    expect(isDefanged(at, at + found.length)).toBe(true);
  }
  expect(isDefanged(0, 3)).toBe(false);
});

test('maps every character outside defanged parts in order, for any text', () => {
  const part = fc.constantFrom(
    '[.]',
    '(dot)',
    'hxxp://',
    '[:]',
    '\u200B',
    'evil',
    'com',
    ' ',
    '\n',
    '[',
    ']',
    '\\.',
    'é',
    '😀',
    '1',
    '.',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const text = parts.join('');
      const { clear, origin } = refangText(text);
      let last = 0;
      for (let at = 0; at < clear.length; at += 1) {
        const { start, end } = origin(at, at + 1);
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeLessThanOrEqual(text.length);
        if (end - start === 1)
          expect(text[start] === clear[at] || clear[at] === undefined || text.slice(start, end).length === 1).toBe(
            true,
          );
        last = start;
      }
      expect(refangText(text).clear).toBe(clear);
    }),
  );
});
