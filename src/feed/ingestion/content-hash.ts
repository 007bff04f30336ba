import { hash } from 'node:crypto';
import type { FeedItem } from '../model/item.schema.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { buckets } from '../model/vocabulary.ts';

type ItemContent = { item: FeedItem; storedText: string };

/** The content of an item besides its stored text. */
type StatedContent = Pick<FeedItem, 'iocs' | 'classification' | 'affectedProducts'> &
  Pick<FeedItem['event'], 'title' | 'severity'> &
  Pick<FeedItem['source'], 'publisher' | 'tlp'> & { withdrawn: boolean };

const contentOfItem = ({ iocs, classification, affectedProducts, event, source }: FeedItem): StatedContent => ({
  iocs,
  classification,
  affectedProducts,
  title: event.title,
  severity: event.severity,
  publisher: source.publisher,
  tlp: source.tlp,
  // `corrected` is the result of a change, not a change.
  withdrawn: event.status === 'retracted',
});

/** Returns the parts of an item whose change makes a new version (spec/feed.md, "version"), each as comparable text. */
const contentParts = (content: StatedContent, text: string): Record<string, string> => ({
  storedText: text,
  title: content.title,
  severity: content.severity,
  indicators: joinIndicators(content.iocs),
  classification: JSON.stringify(content.classification),
  affectedProducts: JSON.stringify(content.affectedProducts),
  publisher: content.publisher,
  tlp: content.tlp,
  status: content.withdrawn ? 'retracted' : 'live',
});

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
  hashContent(contentOfItem(item), normalizeText(storedText));

const hashContent = (content: StatedContent, text: string): string =>
  sha256(JSON.stringify(contentParts(content, text)));

/** Returns the names of the parts that differ between two versions. */
export function changedParts(before: ItemContent, after: ItemContent): string[] {
  const partsOf = ({ item, storedText }: ItemContent) => contentParts(contentOfItem(item), normalizeText(storedText));
  const [oldParts, newParts] = [partsOf(before), partsOf(after)];
  return Object.keys(newParts).filter((name) => oldParts[name] !== newParts[name]);
}

/**
 * Returns the hash of the content of a record's item with this publisher and marking, and the hash of what the source itself states, which is
 * independent of how this program extracts it.
 */
export function hashRecord(
  record: SourceRecord,
  { publisher, tlp }: Pick<FeedItem['source'], 'publisher' | 'tlp'>,
): { contentHash: string; recordHash: string } {
  const text = normalizeText(record.storedText);
  return {
    contentHash: hashContent({ ...record, publisher, tlp }, text),
    recordHash: sha256(JSON.stringify([text, record.withdrawn, record.tlp ?? null, record.publisher ?? null])),
  };
}

// A single space, which is most of the white space, does not match.
const foldedWhitespace = /[^\S ]\s*| \s+/g;

export const normalizeText = (text: string): string => text.normalize('NFC').replaceAll(foldedWhitespace, ' ').trim();
export const sha256 = (text: string): string => hash('sha256', text);
