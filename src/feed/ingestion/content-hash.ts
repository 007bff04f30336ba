import { createHash } from 'node:crypto';
import type { FeedItem } from '../model/item.schema.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { buckets } from '../model/vocabulary.ts';

type ItemContent = { item: FeedItem; storedText: string };

type NormalizedContent = { item: FeedItem; text: string };

/** Returns the parts of an item whose change makes a new version (spec/feed.md, "version"), each as comparable text. */
function contentParts({ item, text }: NormalizedContent): Record<string, string> {
  const { event, source } = item;
  return {
    storedText: text,
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
  hashContent({ item, text: normalizeText(storedText) });

const hashContent = (content: NormalizedContent): string => sha256(JSON.stringify(contentParts(content)));

/** Returns the names of the parts that differ between two versions. */
export function changedParts(before: ItemContent, after: ItemContent): string[] {
  const partsOf = ({ item, storedText }: ItemContent) => contentParts({ item, text: normalizeText(storedText) });
  const [oldParts, newParts] = [partsOf(before), partsOf(after)];
  return Object.keys(newParts).filter((name) => oldParts[name] !== newParts[name]);
}

/**
 * Returns the hash of the content, and the hash of what the source itself states, which is independent of how this program extracts it.
 */
export function hashRecord(record: SourceRecord, item: FeedItem): { contentHash: string; recordHash: string } {
  const text = normalizeText(record.storedText);
  return {
    contentHash: hashContent({ item, text }),
    recordHash: sha256(JSON.stringify([text, record.withdrawn, record.tlp ?? null, record.publisher ?? null])),
  };
}

// A single space, which is most of the white space, does not match.
const foldedWhitespace = /[^\S ]\s*| \s+/g;

export const normalizeText = (text: string): string => text.normalize('NFC').replaceAll(foldedWhitespace, ' ').trim();
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
