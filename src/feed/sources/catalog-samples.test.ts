import { expect, test } from 'vitest';
import { catalogSamples } from '../../../test/support/feed/catalog-samples.ts';
import { checkParsed } from '../../../test/support/feed/check-parsed.ts';
import { normalizeCron } from '../../platform/lib/time/cron.ts';
import { readEntryText, toCanonicalUrl } from '../formats/rss/read-entry-text.ts';
import { sourceFormats } from '../formats/registry.ts';
import type { SourceFormat } from '../formats/source-format.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { buckets } from '../model/vocabulary.ts';
import { loadCatalog } from './catalog.ts';

const entries = Object.entries(loadCatalog());

test('has about a hundred sources, each with its own address and a schedule', () => {
  expect(entries.length).toBeGreaterThanOrEqual(80);
  expect(new Set(entries.map(([, { url }]) => toCanonicalUrl(url))).size).toBe(entries.length);
  for (const [name, { url, schedule, reliability, brings }] of entries) {
    expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    expect([name, new URL(url).protocol, url]).toEqual([name, 'https:', new URL(url).href]);
    expect(normalizeCron(schedule)).toBe(schedule);
    expect([reliability > 0 && reliability < 1, brings.length > 10]).toEqual([true, true]);
  }
});

test('states a sample exactly for the sources that have one', () => {
  const stated = entries.filter(([, { sample }]) => sample !== 'none').map(([name]) => name);
  expect(Object.keys(catalogSamples).toSorted()).toEqual(stated.toSorted());
});

test.each(Object.entries(catalogSamples))('reads a document of %s', (name, sample) => {
  const { kind, publisher, title, reliability } = loadCatalog()[name]!;
  const format: SourceFormat = sourceFormats[kind];
  const part = { name: 'document', bytes: Buffer.from(sample.document) };
  const { texts = [], ...parsed } = format.parse([part], { reliability, sourceName: `${publisher}: ${title}` });
  const records = [...parsed.records, ...texts.map((text) => readEntryText(text))];
  expect(parsed.skipped).toEqual([]);
  checkParsed({ records, skipped: [] });
  if (parsed.predictions) return expect(parsed.predictions.batches).toHaveLength(1);
  const [record] = records as [SourceRecord];
  if (sample.title) expect(record.title).toMatch(sample.title);
  const indicators = buckets.flatMap((bucket) => record.iocs[bucket]);
  const values = [
    ...indicators.flatMap(({ type, normalizedValue, firstSeen }) => [
      normalizedValue,
      `${type} ${normalizedValue}`,
      firstSeen,
    ]),
    ...record.classification.malware.map(({ name: malware }) => malware),
  ];
  expect(values).toEqual(expect.arrayContaining(sample.values ?? []));
  expect(record.classification.mappings.map(({ id }) => id)).toEqual(expect.arrayContaining(sample.mappings ?? []));
  if (format.isText) expect(record).toMatchObject({ publishTime: '2026-03-02T10:00:00.000Z' });
  if (name === 'openphish') expect(indicators[0]).toMatchObject({ ttlDays: 7 });
});
