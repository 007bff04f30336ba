import { expect, test } from 'vitest';
import { findSentences } from './sentence-spans.ts';

test.each([
  ['Die Gruppe griff am 3. März 2026 eine Bank an. Danach verschwand sie.', 2],
  ['Der Angriff vom 12. Januar 2026 traf Kliniken. Am 1. Mai folgte der nächste.', 2],
  ['Die Lücke wurde am 30. September 2026 geschlossen.', 1],
  ['The group used exploit 3. April was its leader in those days.', 2],
  ['They attacked in version 3. May they never come back again.', 2],
])('splits no date: %s', (text, count) => {
  const sentences = findSentences(text);
  expect(sentences.map(({ start, end }) => text.slice(start, end))).toEqual(sentences.map((one) => one.text));
  expect(sentences).toHaveLength(count);
});
