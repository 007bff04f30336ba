import fc from 'fast-check';
import { expect, test } from 'vitest';
import { excerptAround, startNearMatch } from './excerpt.ts';
import { cutSegments, findMentions } from './passages.ts';

const mentionsOf = (text: string, value: string) =>
  findMentions(text, 'k', value).map(({ start, end }) => text.slice(start, end));

test.each([
  ['seen at evil.example.', 'evil.example', ['evil.example']],
  ['seen at evil[.]example and EVIL(.)example', 'evil.example', ['evil[.]example', 'EVIL(.)example']],
  [
    'hxxps://evil[.]example/a and hXXps[:]//evil.example/a',
    'https://evil.example/a',
    ['hxxps://evil[.]example/a', 'hXXps[:]//evil.example/a'],
  ],
  ['10.0.0.10 and 110.0.0.1', '10.0.0.1', []],
  ['a+b (c) [d] a+b', 'a+b', ['a+b', 'a+b']],
  ['ab', 'ab', []],
])('finds in %j the value %j', (text, value, expected) => {
  expect(mentionsOf(text, value)).toEqual(expected);
});

test('finds any value in a text that contains it between spaces', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 3, maxLength: 40 }), (value) => {
      expect(mentionsOf(` ${value} `, value)).toContain(value);
    }),
  );
});

test('cuts a text into segments that together are the text, each with the marks that contain it', () => {
  const mark = fc.record({ key: fc.constantFrom('a', 'b', 'c'), start: fc.nat(60), end: fc.nat(60) });
  fc.assert(
    fc.property(fc.string({ maxLength: 50 }), fc.array(mark, { maxLength: 8 }), (text, marks) => {
      const segments = cutSegments(text, marks);
      expect(segments.map((segment) => segment.text).join('')).toBe(text);
      for (const { start, text: piece, keys } of segments)
        for (const { key, start: from, end } of marks.filter(({ end }) => end <= text.length))
          if (from <= start && start + piece.length <= end) expect(keys).toContain(key);
    }),
  );
});

test.each([
  ['Seen at ', 'Seen at '],
  ['Nothing else of note happened at the bank until it ran ', '… at the bank until it ran '],
  ['x'.repeat(100), `… ${'x'.repeat(32)}`],
])('starts an excerpt that begins with %j near its match', (lead, shown) => {
  const rest = [
    { text: 'stealers', isMatch: true },
    { text: ` on a host ${'and on '.repeat(20)}others.`, isMatch: false },
  ];
  expect(startNearMatch([{ text: lead, isMatch: false }, ...rest])).toEqual([{ text: shown, isMatch: false }, ...rest]);
  expect(startNearMatch(rest)).toEqual(rest);
});

test('marks an excerpt that ends within a sentence', () => {
  const match = { text: 'phishes', isMatch: true };
  expect(startNearMatch([match, { text: ' engineers of', isMatch: false }]).at(-1)).toEqual({
    text: ' …',
    isMatch: false,
  });
  expect(startNearMatch([match, { text: ' engineers.”', isMatch: false }])).toHaveLength(2);
});

test.each([
  ['name: Quiet Heron\ndescription: It ', 'Description: It '],
  [`vendorProject: ${'Northmere Gatehouse '.repeat(3)}`, 'Vendor project: … Gatehouse Northmere Gatehouse '],
  ['cveID: CVE-2099-27718\nproduct: ', 'Product: '],
])('shows of a structured record that begins with %j the field that matches', (lead, shown) => {
  const match = { text: 'phishes', isMatch: true };
  const after = { text: ' engineers.\ngoals: access', isMatch: false };
  expect(startNearMatch([{ text: lead, isMatch: false }, match, after])).toEqual([
    { text: shown, isMatch: false },
    match,
    { text: ' engineers.', isMatch: false },
  ]);
});

test.each([
  ['one two three', undefined, 'one two three'],
  ['one two three four five six', undefined, 'one two three …'],
  ['one two three four five six', 'six', '… four five six'],
  ['one two three four five six', 'three', '… two three four …'],
  ['abcdefghijklmnopqrstuvwxyz', 'm', '… fghijklmnopqrstu …'],
])('shortens %j around %j', (text, words, expected) => {
  const start = words === undefined ? -1 : text.indexOf(words);
  const span = words === undefined ? undefined : { start, end: start + words.length };
  expect(excerptAround(text, span, 16)).toBe(expected);
});

test('an excerpt contains its span if there is room for a space at each side', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(words, fc.nat(), (list, pick) => {
      const text = list.join(' ');
      const at = pick % list.length;
      const start = list.slice(0, at).join(' ').length + (at ? 1 : 0);
      const excerpt = excerptAround(text, { start, end: start + list[at]!.length }, 30);
      expect(excerpt).toContain(list[at]);
      expect(excerpt.length).toBeLessThanOrEqual(34);
    }),
  );
});
