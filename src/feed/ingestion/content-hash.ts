import { createHash } from 'node:crypto';
import type { FeedItem } from '../model/item.schema.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { buckets } from '../model/vocabulary.ts';

type ItemContent = { item: FeedItem; storedText: string };

/** Returns the parts of an item whose change makes a new version (spec/feed.md, "version"), each as comparable text. */
function contentParts({ item, storedText }: ItemContent): Record<string, string> {
  const { event, source, iocs } = item;
  const values = buckets.flatMap((bucket) =>
    iocs[bucket].map(({ type, normalizedValue }) => `${type} ${normalizedValue}`),
  );
  return {
    storedText: storedText.normalize('NFC').replaceAll(/\s+/g, ' ').trim(),
    title: event.title,
    severity: event.severity,
    indicators: values.toSorted().join('\n'),
    classification: JSON.stringify(item.classification),
    affectedProducts: JSON.stringify(item.affectedProducts),
    publisher: source.publisher,
    tlp: source.tlp,
    // `corrected` is the result of a change, not a change.
    status: event.status === 'retracted' ? 'retracted' : 'live',
  };
}

export function contentHash(item: FeedItem, storedText: string): string {
  return sha256(JSON.stringify(contentParts({ item, storedText })));
}

/** Returns the names of the parts that differ between two versions. */
export function changedParts(before: ItemContent, after: ItemContent): string[] {
  const [oldParts, newParts] = [contentParts(before), contentParts(after)];
  return Object.keys(newParts).filter((name) => oldParts[name] !== newParts[name]);
}

/** Hashes what the source itself states, independent of how this program extracts it. */
export function recordHash(record: SourceRecord): string {
  const text = record.storedText.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return sha256(JSON.stringify([text, record.withdrawn, record.tlp ?? null, record.publisher ?? null]));
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
