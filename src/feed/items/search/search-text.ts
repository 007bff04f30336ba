import type { FeedItem } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';

const textMaxChars = 100_000;

/**
 * Returns the part of an item that full-text search covers besides the title and the stored text: summary and normalized indicator values.
 * The end is cut after 100,000 UTF-16 units.
 */
export function toSearchText({ summary, iocs }: Pick<FeedItem, 'summary' | 'iocs'>): string {
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  return [summary ?? '', ...values].join('\n').slice(0, textMaxChars).toWellFormed();
}
