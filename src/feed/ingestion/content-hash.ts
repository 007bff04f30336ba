import { createHash } from 'node:crypto';
import type { FeedItem } from '../model/item.schema.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { buckets } from '../model/vocabulary.ts';

type ItemContent = { item: FeedItem; storedText: string };

/** Returns the parts of an item whose change makes a new version (spec/feed.md, "version"), each as comparable text. */
function contentParts({ item, storedText }: ItemContent): Record<string, string> {
  const { event, source } = item;
  return {
    storedText: normalizeText(storedText),
    title: event.title,
    severity: event.severity,
    indicators: joinIndicators(item.iocs),
    classification: JSON.stringify(item.classification),
    affectedProducts: JSON.stringify(item.affectedProducts),
    publisher: source.publisher,
    tlp: source.tlp,
    // `corrected` is the result of a change, not a change.
    status: event.status === 'retracted' ? 'retracted' : 'live',
  };
}

/** Returns the indicators as comparable text. A harmless value differs from one that is not, whereas expiry is no change. */
export const joinIndicators = (iocs: FeedItem['iocs']): string =>
  buckets
    .flatMap((bucket) =>
      iocs[bucket].map(
        ({ type, normalizedValue, status }) =>
          `${type} ${normalizedValue}${status === 'false_positive' ? ' harmless' : ''}`,
      ),
    )
    .toSorted()
    .join('\n');

export const contentHash = (item: FeedItem, storedText: string): string =>
  sha256(JSON.stringify(contentParts({ item, storedText })));

/** Returns the names of the parts that differ between two versions. */
export function changedParts(before: ItemContent, after: ItemContent): string[] {
  const [oldParts, newParts] = [contentParts(before), contentParts(after)];
  return Object.keys(newParts).filter((name) => oldParts[name] !== newParts[name]);
}

/** Hashes what the source itself states, independent of how this program extracts it. */
export function recordHash(record: SourceRecord): string {
  const text = normalizeText(record.storedText);
  return sha256(JSON.stringify([text, record.withdrawn, record.tlp ?? null, record.publisher ?? null]));
}

export const normalizeText = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
