import { expect } from 'vitest';
import { csv } from '../../../src/feed/formats/csv/csv.ts';
import type { ParseResult } from '../../../src/feed/formats/source-format.ts';
import { buckets } from '../../../src/feed/model/vocabulary.ts';

/** Parses a list of indicators. */
export const parseList = (text: string | Buffer, name = 'list.csv'): ParseResult =>
  csv.parse([{ name, bytes: Buffer.from(text as string) }], { reliability: 0.7 });

/** Checks that every indicator is in a passage and every passage is in the text. */
export function checkPassages({ records }: ParseResult): void {
  for (const { storedText, passages, iocs } of records) {
    const texts = passages.map(({ start, end }) => storedText.slice(start, end));
    for (const text of texts) expect(text).not.toBe('');
    for (const bucket of buckets)
      for (const { value } of iocs[bucket])
        expect(
          texts.some((text) => text.includes(value)),
          value,
        ).toBe(true);
  }
}
