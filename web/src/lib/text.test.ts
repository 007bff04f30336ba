import { expect, test } from 'vitest';
import { countOf, fieldToWords, formatBytes, formatMoney, shortenMiddle, toWords } from './text.ts';

test.each([
  ['first_occurrence', 'First occurrence'],
  ['external_id', 'External ID'],
  ['source-ips', 'Source IPs'],
  ['', ''],
])('puts the name %j into words: %j', (name, words) => {
  expect(toWords(name)).toBe(words);
});

test('puts a field in camel case into words', () => {
  expect(fieldToWords('vendorProject')).toBe('Vendor project');
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.00 kB'],
  [12_345, '12.3 kB'],
  [123_456_789, '123 MB'],
  [9.9e18, '9900 PB'],
])('formats %d bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0, '$0.00'],
  [0.000_01, '$<0.0001'],
  [0.0012, '$0.0012'],
  [0.01, '$0.01'],
  [12.345, '$12.35'],
])('formats %d US dollars as %s', (usd, text) => {
  expect(formatMoney(usd)).toBe(text);
});

test('counts with singular and plural', () => {
  expect([0, 1, 1200].map((count) => countOf(count, 'hit'))).toEqual(['0 hits', '1 hit', '1,200 hits']);
  expect(countOf(2, 'entity', 'entities')).toBe('2 entities');
});

test('shortens an identifier in the middle and leaves a short one as it is', () => {
  expect(shortenMiddle('019ab3c4d5e67f21', 12)).toBe('019ab3…67f21');
  expect(shortenMiddle('019ab3c4d5e6', 12)).toBe('019ab3c4d5e6');
});
