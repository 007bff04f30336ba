import { expect, test } from 'vitest';
import { readPeriod, readQueryFields, splitPeriod } from './query-fields.ts';

test.each([
  ['actor:lazarus wiper', 'wiper', { actor: 'lazarus' }],
  ['wiper Actor:"charming kitten" severity:high', 'wiper', { actor: 'charming kitten', severity: 'high' }],
  ['publisher:cisa ioc:evil[.]example', '', { source: 'cisa', indicator: 'evil[.]example' }],
  ['tool:a tool:b', 'tool:b', { tool: 'a' }],
  ['"actor:lazarus" wiper', '"actor:lazarus" wiper', {}],
  ['note:this http://actor:x@a.example', 'note:this http://actor:x@a.example', {}],
  ['actor: lazarus', 'actor: lazarus', {}],
  ['cve:wrong', 'cve:wrong', {}],
])('reads the fields of %s', (text, rest, parameters) => {
  const isValid = (_parameter: string, value: string): boolean => value !== 'wrong';
  expect(readQueryFields(text, isValid)).toEqual({ text: rest, parameters });
});

const now = new Date('2026-03-11T15:30:00Z');

test.each([
  ['ransomware today', 'ransomware', '2026-03-11', undefined],
  ['yesterday', '', '2026-03-10', '2026-03-11'],
  ['phishing  last week banks', 'phishing banks', '2026-03-04', undefined],
  ['phishing this week', 'phishing', '2026-03-09', undefined],
  ['in the last 3 days', '', '2026-03-08', undefined],
  ['this quarter', '', '2026-01-01', undefined],
  ['kaseya July 2021', 'kaseya', '2021-07-01', '2021-08-01'],
  ['wiper since sep 2022', 'wiper', '2022-09-01', undefined],
  ['wiper before 2022', 'wiper', undefined, '2022-01-01'],
  ['wiper until 2022-02', 'wiper', undefined, '2022-03-01'],
  ['wiper after 2022-02-24', 'wiper', '2022-02-25', undefined],
  ['wiper in 2022', 'wiper', '2022-01-01', '2023-01-01'],
  ['2022-02-24', '', '2022-02-24', '2022-02-25'],
])('reads the time of %s', (text, rest, from, until) => {
  const found = splitPeriod(text);
  expect(found.text).toBe(rest);
  const day = (instant: string | undefined): string | undefined => instant?.replace('T00:00:00.000Z', '');
  const published = readPeriod(found.period!, now);
  expect([day(published.from), day(published.until)]).toEqual([from, until]);
});

test.each([
  'exchange 2016',
  'CVE-2021-26855',
  'cve 2021-26855',
  '"last week" notes',
  'may attack',
  '2021-13-01',
  'blast week',
])('reads no time in %s', (text) => {
  expect(splitPeriod(text)).toEqual({ text, period: undefined });
});
