import { expect } from 'vitest';
import { buckets, severities } from '../../../src/feed/model/vocabulary.ts';
import type { ParseResult } from '../../../src/feed/formats/source-format.ts';

/** Checks the rules that apply to every record of every format. */
export function checkParsed({ records, skipped }: ParseResult): void {
  expect(new Set(records.map(({ recordId }) => recordId)).size).toBe(records.length);
  for (const { entry, reason } of skipped) expect([entry === '', reason === '']).toEqual([false, false]);
  for (const record of records) {
    expect(record.title.trim()).not.toBe('');
    expect(severities).toContain(record.severity);
    expect(record.canonicalKey).toMatch(/^(?:cve|adv|url|uuid|txt):./);
    const texts = [
      record.recordId,
      record.canonicalKey,
      record.title,
      record.storedText,
      record.publisher ?? '',
      record.externalId ?? '',
    ];
    for (const text of texts) expect([text.includes('\u0000'), text.isWellFormed()]).toEqual([false, true]);
    for (const time of [record.publishTime, record.modifiedAt, record.eventFirstSeen])
      if (time !== undefined) expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    for (const { start, end } of record.passages) expect(record.storedText.slice(start, end)).toHaveLength(end - start);
    const passages = record.passages.map(({ start, end }) => record.storedText.slice(start, end));
    for (const { evidenceRef } of record.classification.attack)
      expect(record.passages[Number(/\d+/.exec(evidenceRef)![0])]).toBeDefined();
    const whole = new Set(passages.map((passage) => passage.slice(passage.lastIndexOf(': ') + 1).trim()));
    const all = passages.join('\n');
    const isShown = (value: string): boolean =>
      whole.has(value) || all.includes(value) || all.includes(value.replaceAll(/[\\']/g, String.raw`\$&`));
    const indicators = buckets.flatMap((bucket) => record.iocs[bucket]);
    const broken = indicators.filter(
      ({ value, normalizedValue, confidence, ttlDays }) =>
        normalizedValue === '' ||
        confidence !== Math.round(confidence * 100) / 100 ||
        !(ttlDays >= 0) ||
        !isShown(value.trim()),
    );
    expect(broken).toEqual([]);
  }
}
