import { expect, test } from 'vitest';
import { emptyIocs } from '../../model/source-record.ts';
import { toSearchText } from './search-text.ts';

const searchedItem = {
  event: { title: 'A title' },
  source: { publisher: '' },
  iocs: emptyIocs(),
  affectedProducts: [],
  classification: { attack: [], killChain: [], malware: [], actor: [], platforms: [], mappings: [] },
};
const searchBody = (storedText: string, isProse = false): string =>
  toSearchText(searchedItem, { storedText, isProse }).searchBody;

test('searches the whole text of prose', () => {
  const text = 'Panel: seen.\nPanel: seen.\n2026-01-05T09:00:00Z';
  expect(searchBody(text, true)).toBe(text);
});

test.each([
  [
    'values of at least four words, each once',
    'a[0].note: one two three four\na[1].note: one two three four',
    'one two three four',
  ],
  ['no shorter values', 'created: 2026-01-05T09:00:00.000Z\ncategory: Network activity\npattern: [a = 1]', ''],
  [
    'further lines of a text, except those that look like a short field',
    'note: Overview of the campaign:\nEmotet: back again\ngone',
    'Overview of the campaign:\ngone',
  ],
  [
    'the lines of a list in a text',
    'note: A text with lines\n- Emotet: back again',
    'A text with lines\n- Emotet: back again',
  ],
  ['no lists of ids', `refs: ${Array(5).fill('report--c3d65d67-22dd-465d-8524-e195c93b07ca').join(', ')}`, ''],
  [
    'no descriptions that MISP copies from its galaxies',
    'info: A title\nGalaxy[0].GalaxyCluster[0].description: The group phished banks of many countries.\nIt was seen in many others.\nnote: one two three four',
    'one two three four',
  ],
  ['values of scripts without spaces', 'note: 新型勒索软件攻击\ntype: report', '新型勒索软件攻击'],
  ['not the title again', 'name: A title\nother: A title', ''],
])('searches in structured records: %s', (_what, storedText, expected) => {
  expect(searchBody(storedText)).toBe(expected);
});

test('finds an item by its id in the source, summary, CVEs, names, products, indicators and publisher', () => {
  const iocs = emptyIocs();
  iocs.domains.push({ type: 'domain', value: 'Evil[.]example', normalizedValue: 'evil.example' } as never);
  const mappings = ['CVE-2031-10001', 'CVE-2031-10002'].map((id) => ({ framework: 'cve', id }));
  const item = {
    ...searchedItem,
    source: { publisher: 'Harrow' },
    summary: 'A panel.',
    externalId: 'CVE-2031-10001',
    iocs,
    classification: { ...searchedItem.classification, actor: [{ name: 'APT28', aliases: ['Sofacy'] }], mappings },
    affectedProducts: [{ vendor: 'Northmere', product: 'Gatehouse' }],
  } as never;
  expect(toSearchText(item, { storedText: 'A text.', isProse: true, formatWords: 'known exploited' })).toEqual({
    searchTitle: 'A title\nCVE-2031-10001',
    searchHead: 'A panel.\nAPT28\nSofacy\nNorthmere Gatehouse\nevil.example',
    searchBody: 'Harrow\nCVE-2031-10002\nknown exploited\nA text.',
  });
});
