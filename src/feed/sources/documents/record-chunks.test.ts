import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSourceDocuments, recordedSources } from '../../../../quality/feed/passages.ts';
import { dataDir } from '../../../../test/support/data.ts';
import { mispAttribute, mispEvent } from '../../../../test/support/feed/misp-documents.ts';
import { stixBundle, stixIndicator } from '../../../../test/support/feed/stix-documents.ts';
import { sourceFormats, type SourceKind } from '../../formats/registry.ts';
import type { SourceDocument } from '../../formats/fetch-session.ts';
import { removeUnbelievableDates } from '../../model/source-record.ts';
import { parseInChunks, toChunks, weighRecord } from './record-chunks.ts';

const context = { reliability: 0.6, now: new Date('2025-06-01T00:00:00Z') };
const part = (document: unknown, name = 'x.json'): SourceDocument => ({
  name,
  bytes: Buffer.from(JSON.stringify(document)),
});

/** Parses documents in chunks and all at the same time, and compares the records and what was skipped. */
async function expectSameRecords(kind: SourceKind, parts: SourceDocument[]): Promise<number> {
  const { records, skipped } = sourceFormats[kind].parse(parts, context);
  const expected = records
    .map((record) => removeUnbelievableDates(record, context.now))
    .toSorted((a, b) => {
      const [timeA, timeB] = [a.publishTime ?? '', b.publishTime ?? ''];
      return timeA === timeB ? 0 : timeA < timeB ? -1 : 1;
    });
  const { head, chunks } = parseInChunks({ kind, parts, context });
  const read = await Array.fromAsync(chunks);
  const chunked = read.flatMap((chunk) => chunk.records);
  expect(chunked.map(({ recordId }) => recordId)).toEqual(expected.map(({ recordId }) => recordId));
  expect(chunked).toEqual(expected);
  expect([...head.skipped, ...read.flatMap((chunk) => chunk.skipped)]).toEqual(skipped);
  expect(head.count).toBe(chunked.length);
  return chunked.length;
}

describe.skipIf(!existsSync(dataDir() ?? ''))('recorded sources', () => {
  test.each(recordedSources)('%s: reads %s in chunks as it does all at the same time', async (kind, path) => {
    expect(existsSync(resolve(dataDir()!, path))).toBe(true);
    expect(await expectSameRecords(kind, readSourceDocuments(path))).toBeGreaterThan(0);
  });
});

const domains = (count: number, name = 'h'): string[] =>
  Array.from({ length: count }, (_, n) => `${name}${n}.evil-${n % 7}.example`);

test('reads the parts of large reports and events in chunks, also with dates that nobody believes', async () => {
  const report = stixBundle(domains(4_000), { published: '2031-01-01T00:00:00Z' });
  const older = { type: 'bundle', id: 'bundle--o', objects: [{ ...stixIndicator('o.example', 'o'), created: '2001-01-01T00:00:00Z' }] }; // prettier-ignore
  expect(await expectSameRecords('stix', [part(report), part(older, 'older.json')])).toBe(17);
  const attributes = domains(4_000).map((value) => mispAttribute('domain', value));
  const link = mispAttribute('link', 'https://vendor.example/report');
  const events = [
    mispEvent('future', { Attribute: [...attributes, link], date: '2099-01-01', timestamp: '1700000000' }),
    mispEvent('undated', { Attribute: attributes, date: undefined, timestamp: undefined }),
    mispEvent('plain', { Attribute: [link] }),
  ];
  expect(await expectSameRecords('misp', [part(events)])).toBe(33);
});

test('keeps the newest of several records with one id, and reports two of one time', async () => {
  const version = (modified: string, name: string) => part(stixBundle(['a.example'], { modified, name }), `${name}.json`); // prettier-ignore
  const [old, newer] = ['2024-01-02T00:00:00Z', '2024-02-02T00:00:00Z'];
  const versions = [version(old, 'a'), version(newer, 'b'), version(newer, 'c'), version(old, 'd')];
  expect(await expectSameRecords('stix', versions)).toBe(1);
  const { head, chunks } = parseInChunks({ kind: 'stix', parts: versions, context });
  expect((await Array.fromAsync(chunks))[0]!.records[0]!.title).toBe('b');
  expect(head.skipped.map(({ reason }) => reason)).toEqual(['another record of the document has the same id and time']);
});

test('chunks have a bounded weight, except that a heavy record has its own', () => {
  const [record] = sourceFormats.stix.parse([part(stixBundle(['a.example']))], context).records;
  const lengths = fc.array(fc.integer({ min: 0, max: 300_000 }), { maxLength: 600 });
  fc.assert(
    fc.property(lengths, (texts) => {
      const records = texts.map((length, n) => ({ ...record!, recordId: `r${n}`, storedText: 'x'.repeat(length) }));
      const chunks = [...toChunks(records)];
      expect(chunks.flatMap((chunk) => chunk.records.map(({ recordId }) => recordId))).toEqual(
        records.map(({ recordId }) => recordId),
      );
      for (const { records: own } of chunks) {
        expect(own.length).toBeLessThanOrEqual(250);
        const weight = own.slice(0, -1).reduce((sum, one) => sum + weighRecord(one), 0);
        expect(weight).toBeLessThan(330_000);
      }
    }),
    { numRuns: 20 },
  );
});
