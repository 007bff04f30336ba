import { expect, test } from 'vitest';
import { locateValue } from './locate-value.ts';

const lines = [
  'name: x',
  String.raw`pattern: [file:path = 'C:\\it\'s']`,
  String.raw`json: {"path":"C:\\say \"hi\""}`,
  '',
];
const text = lines.join('\n');
const whole = { start: 0, end: text.length };

test.each([
  ['verbatim', ' x ', lines[0]],
  ['escaped in a pattern', String.raw`C:\it's`, lines[1]],
  ['escaped in JSON', String.raw`C:\say "hi"`, lines[2]],
])('returns the line of a value that is %s', (_, value, line) => {
  const span = locateValue(text, whole, value)!;
  expect(text.slice(span.start, span.end)).toBe(line);
});

test('returns only the value in a long line, and nothing outside of the range', () => {
  const long = `${'-'.repeat(500)}evil.example`;
  expect(locateValue(long, { start: 0, end: long.length }, 'evil.example')).toEqual({ start: 500, end: 512 });
  expect(locateValue(text, { start: 5, end: text.length }, 'name')).toBeUndefined();
  expect(locateValue(text, { start: 0, end: 8 }, 'pattern')).toBeUndefined();
  expect(locateValue(text, whole, ' ')).toBeUndefined();
});
