import { expect, test } from 'vitest';
import { readEntryText } from '../../formats/rss/read-entry-text.ts';
import { extractTexts } from './open-records.ts';

const extractor = { readEntry: async (text: Parameters<typeof readEntryText>[0]) => readEntryText(text) };

test('lists an article in `skipped` if only its beginning was read', async () => {
  const html = `<p>${'The sample slept. '.repeat(60_000)}</p>`;
  const texts = [
    { recordId: 'long', title: 'A long article', html },
    { recordId: 'short', title: 'A short article', html: '<p>The sample slept.</p>' },
    { recordId: 'empty', html: '' },
  ];
  const parsed = { records: [], skipped: [], texts };
  const { records, skipped } = await extractTexts(extractor, parsed, { owner: 'a', signal: undefined });
  expect(records.map(({ recordId }) => recordId)).toEqual(['long', 'short']);
  expect(skipped).toEqual([
    { entry: 'long', reason: 'only the first 1000000 characters of its text were read' },
    { entry: 'empty', reason: 'neither the page nor the feed has a text' },
  ]);
});
