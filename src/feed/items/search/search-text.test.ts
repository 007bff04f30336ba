import { expect, test } from 'vitest';
import { emptyIocs } from '../../model/source-record.ts';
import { toSearchText } from './search-text.ts';

const searchBody = (storedText: string, isProse = false): string =>
  toSearchText({ event: { title: 'A title' }, iocs: emptyIocs() }, { storedText, isProse }).searchBody;

test('searches the whole text of prose', () => {
  const text = 'Panel: seen.\nPanel: seen.\n2026-01-05T09:00:00Z';
  expect(searchBody(text, true)).toBe(text);
});

test.each([
  ['each path and each value once', 'a[0].note: x y\na[1].note: z\na[2].note: x y', 'a[].note: x y\nz'],
  [
    'the lines of a text in a field',
    'note: Overview\nEmotet: back again\nEmotet: gone',
    'note: Overview\nEmotet: back again\ngone',
  ],
  ['no timestamps', 'created: 2026-01-05T09:00:00.000Z\ntimestamp: 1767225600\ndate: 2026-01-05', 'date: 2026-01-05'],
  [
    'no ids, within lists neither',
    'id: report--c3d65d67-22dd-465d-8524-e195c93b07ca\nuuid: c3d65d67-22dd-465d-8524-e195c93b07ca\nrefs: malware--c3d65d67-22dd-465d-8524-e195c93b07ca, Emotet',
    'refs: , Emotet',
  ],
  ['neither title nor summary again', 'name: A title\nother: A title', ''],
  ['no empty fields', 'comment: \nx: -', ''],
  [
    'no repeated words in short values',
    'name: Evil.example\npattern: known\n[evil.example = known]',
    'name: Evil.example\npattern: known',
  ],
  [
    'longer values whose words occurred before',
    'a: one two three four\nb: four three two one',
    'a: one two three four\nb: four three two one',
  ],
])('searches in structured records: %s', (_what, storedText, expected) => {
  expect(searchBody(storedText)).toBe(expected);
});

test('finds an item by its summary, its id in the source and its indicators', () => {
  const iocs = emptyIocs();
  iocs.domains.push({ type: 'domain', value: 'Evil[.]example', normalizedValue: 'evil.example' } as never);
  const item = { event: { title: 'Panel' }, summary: 'A panel.', externalId: 'RHSA-2026:1', iocs };
  expect(
    toSearchText(item, {
      storedText: "pattern: [domain-name:value = 'evil.example']\n[evil.example]",
      isProse: false,
    }),
  ).toEqual({
    searchHead: 'A panel.\nRHSA-2026:1\nevil.example',
    searchBody: "pattern: [domain-name:value = 'evil.example']",
  });
});
