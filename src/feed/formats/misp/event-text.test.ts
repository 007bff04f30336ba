import { expect, test } from 'vitest';
import { mispEvent } from '../../../../test/support/feed/misp-documents.ts';
import { buckets } from '../../model/vocabulary.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { misp } from './misp.ts';

const read = (more: Record<string, unknown>): SourceRecord =>
  misp.parse([{ name: 'a.json', bytes: Buffer.from(JSON.stringify(mispEvent('a', more))) }], { reliability: 0.6 })
    .records[0]!;
const indicators = (record: SourceRecord): string[] =>
  buckets.flatMap((bucket) => record.iocs[bucket].map(({ type, value }) => `${bucket} ${type} ${value}`));

test('reads event reports as prose, with passages, and ignores deleted ones', () => {
  const content =
    'Adversaries sent phishing emails with T1566.001.\n\n## Indicators\n\nzq7-drop[.]top\n\nEmotet was dropped.';
  const deleted = { name: 'Old', content: 'zq8-drop[.]top', deleted: true };
  const record = read({ EventReport: [{ name: 'Report', content }, deleted], Attribute: [], Object: [] });
  expect(indicators(record)).toEqual(['domains domain zq7-drop[.]top']);
  expect(record.classification.malware).toMatchObject([{ name: 'Emotet' }]);
  expect(record.classification.attack).toMatchObject([{ technique: 'T1566', subTechnique: 'T1566.001' }]);
  const passages = record.passages.map(({ start, end }) => record.storedText.slice(start, end));
  expect(passages.some((passage) => passage.includes('zq7-drop[.]top'))).toBe(true);
  expect(passages.some((passage) => passage.includes('T1566.001'))).toBe(true);
});

test('reads long event reports to their end, and any number of them', () => {
  const filler = `${'The sample slept. '.repeat(20)}\n`.repeat(1_500);
  const reports = Array.from({ length: 25 }, (_, n) => ({ name: `Part ${n}`, content: `C2: zq${n}-drop[.]top` }));
  const long = { name: 'Long', content: `${filler}C2: zq-last[.]top` };
  const found = indicators(read({ EventReport: [...reports, long], Attribute: [], Object: [] }));
  expect(long.content.length).toBeGreaterThan(500_000);
  expect(found).toContain('domains domain zq-last[.]top');
  expect(found).toHaveLength(26);
});
