import { hash } from 'node:crypto';
import { foldWhitespace } from '../../platform/lib/text/canonical-text.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { buckets, isHarmlessHere } from '../model/vocabulary.ts';

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

/**
 * Returns the parts of an item besides its stored text whose change makes a new version, each as comparable text.
 */
const statedParts = (content: StatedContent): Record<string, string> => ({
  title: content.title,
  severity: content.severity,
  indicators: joinIndicators(content.iocs),
  classification: JSON.stringify(content.classification),
  affectedProducts: JSON.stringify(content.affectedProducts),
  publisher: content.publisher,
  tlp: content.tlp,
  status: content.withdrawn ? 'retracted' : 'live',
});

const describeHarmless = (indicator: Indicator): string => {
  if (indicator.status !== 'false_positive') return '';
  return isHarmlessHere(indicator) ? ' harmless here' : ' harmless';
};

/** Returns the indicators as comparable text. Whether a value is harmless makes a difference. Expiry does not. */
export const joinIndicators = (iocs: FeedItem['iocs']): string =>
  buckets
    .flatMap((bucket) =>
      iocs[bucket].map((indicator) => `${indicator.type} ${indicator.normalizedValue}${describeHarmless(indicator)}`),
    )
    .toSorted()
    .join('\n');

export const contentHash = (item: FeedItem, storedText: string): string =>
  hashContent(contentOfItem(item), JSON.stringify(normalizeText(storedText)));

/** `text`: the normalized stored text as JSON, which the two hashes of a record share because escaping it takes long. */
const hashContent = (content: StatedContent, text: string): string =>
  sha256(`{"storedText":${text},${JSON.stringify(statedParts(content)).slice(1)}`);

/** Returns the names of the parts that differ between two versions. */
export function changedParts(before: ItemContent, after: ItemContent): string[] {
  const partsOf = ({ item, storedText }: ItemContent): Record<string, string> => ({
    storedText: normalizeText(storedText),
    ...statedParts(contentOfItem(item)),
  });
  const [oldParts, newParts] = [partsOf(before), partsOf(after)];
  return Object.keys(newParts).filter((name) => oldParts[name] !== newParts[name]);
}

/**
 * Returns the hash of the content of a record's item with this publisher and marking, and the hash of the source's own statements, which does
 * not depend on the extraction of this program.
 */
export function hashRecord(
  record: SourceRecord,
  { publisher, tlp }: Pick<FeedItem['source'], 'publisher' | 'tlp'>,
): { contentHash: string; recordHash: string } {
  const text = JSON.stringify(normalizeText(record.storedText));
  const rest = JSON.stringify([record.withdrawn, record.tlp ?? null, record.publisher ?? null]);
  return {
    contentHash: hashContent({ ...record, publisher, tlp }, text),
    recordHash: sha256(`[${text},${rest.slice(1)}`),
  };
}

export const normalizeText = (text: string): string => foldWhitespace(text.normalize('NFC')).trim();
export const sha256 = (text: string): string => hash('sha256', text);

/** Increment when this program reads the same documents differently. Sources are then read again, and stored texts are extracted again. */
const readerRevision = 24;

/** Returns the mark of a source's last pull. Sources with another mark are read again: their names and harmless values may differ. */
export const toSourceReading = (referenceDataVersion: number): string => `${readerRevision}.${referenceDataVersion}`;

const referenceDataVersionMax = 10_000_000;

/**
 * Returns the version of the reader that produced an item, as a number that grows with `readerRevision` and, for prose, with the version of
 * the reference data. The next pull of their source reads structured records again.
 */
export const toReaderVersion = (isProse: boolean, referenceDataVersion: number): number =>
  readerRevision * referenceDataVersionMax +
  (isProse ? Math.min(referenceDataVersion, referenceDataVersionMax - 1) : referenceDataVersionMax - 1);
