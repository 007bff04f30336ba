import type { FeedItem } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';

const headMaxChars = 100_000;

/** What full-text search looks through before the stored text: title, summary and the refanged indicators, as many as fit. */
export function searchHead({ event, summary, iocs }: Pick<FeedItem, 'event' | 'summary' | 'iocs'>): string {
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  return [event.title, summary ?? '', ...values].join('\n').slice(0, headMaxChars).toWellFormed();
}
