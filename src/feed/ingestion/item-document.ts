import { basename } from 'node:path';
import { rememberResults } from '../../platform/lib/concurrency/shared-calls.ts';
import { toSearchText, type SearchText } from '../items/search-terms/search-text.ts';
import { updateExpiry, startOfHour } from '../model/expiry.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { buckets, stricterTlp, type ItemStatus, type Tlp } from '../model/vocabulary.ts';
import { roundConfidence, emptyIocs, type SourceRecord } from '../model/source-record.ts';
import type { SourceFormat } from '../formats/source-format.ts';
import { sourceFormats, type SourceKind } from '../formats/registry.ts';
import type { ItemOrigin } from './source-row.ts';

/** The fields of an item that the feed itself sets. Times are on the feed's clock, not the source's. */
export type ItemStamps = {
  id: string;
  version: number;
  status: ItemStatus;
  createdAt: Date;
  addedToFeedAt: Date;
  lastUpdated: Date;
};

const formatOf = (kind: SourceKind | null): SourceFormat | undefined =>
  kind === null ? undefined : sourceFormats[kind];

const defaultsOf = (kind: SourceKind | null): Partial<SourceFormat['defaults']> => formatOf(kind)?.defaults ?? {};

/** Returns whether sources of a kind deliver prose. Posted texts, which have no kind, are prose. */
export const isProseSource = (kind: SourceKind | null): boolean => {
  const format = formatOf(kind);
  return format === undefined || format.isText === true;
};

/** Returns the searched text of an item of a source of this kind. */
export const toItemSearchText = (item: FeedItem, storedText: string, kind: SourceKind | null): SearchText =>
  toSearchText(item, { storedText, isProse: isProseSource(kind), formatWords: formatOf(kind)?.searchWords ?? '' });

/**
 * Returns the marking of an item: the stricter of the record's and the source's. If neither has one, it is the default of the source kind, or
 * AMBER for private and CLEAR for shared sources.
 */
export function effectiveTlp(
  record: Pick<SourceRecord, 'tlp'>,
  source: Pick<ItemOrigin, 'tlp' | 'kind' | 'visibility'>,
): Tlp {
  if (source.tlp) return record.tlp ? stricterTlp(source.tlp, record.tlp) : source.tlp;
  const fallback = defaultsOf(source.kind).tlp ?? (source.visibility === 'private' ? 'AMBER' : 'CLEAR');
  return record.tlp ?? fallback;
}

/** Returns the address of a source as readers may see it: only the name of a local file. */
export const redactFileUrl = (url: string): string => (url.startsWith('file:') ? redactPath(url) : url);

// All items of a source have the same address.
const redactPath = rememberResults(
  (url) => `file:///${encodeURIComponent(basename(decodeURIComponent(new URL(url).pathname)))}`,
  1_000,
);

/** Returns the publisher of an item: the record's, or else the source's. */
export const effectivePublisher = (
  record: Pick<SourceRecord, 'publisher'>,
  source: Pick<ItemOrigin, 'publisher' | 'kind' | 'name'>,
): string => record.publisher ?? source.publisher ?? defaultsOf(source.kind).publisher ?? source.name;

/** Builds the item of a record. */
export function toFeedItem(record: SourceRecord, source: ItemOrigin, stamps: ItemStamps): FeedItem {
  const defaults = defaultsOf(source.kind);
  const url = record.url ?? (source.url === null ? undefined : redactFileUrl(source.url));
  // A posted text exists only in its item.
  const sourceUrl = record.textUrl ?? (source.url === null ? `urn:uuid:${stamps.id}` : redactFileUrl(source.url));
  const license = source.license ?? defaults.license;
  const language = record.language ?? defaults.language;
  const item: FeedItem = {
    id: stamps.id,
    source: {
      ...(url ? { url } : {}),
      publisher: effectivePublisher(record, source),
      ...(record.publishTime ? { publishTime: record.publishTime } : {}),
      ...(language ? { language } : {}),
      name: source.name,
      tlp: effectiveTlp(record, source),
      ...(license ? { license } : {}),
    },
    event: {
      title: record.title,
      severity: record.severity,
      confidence: roundConfidence(source.reliability),
      status: stamps.status,
      ...(record.eventFirstSeen ? { eventFirstSeen: record.eventFirstSeen } : {}),
      ...(record.eventLastSeen ? { eventLastSeen: record.eventLastSeen } : {}),
    },
    ...(record.summary ? { summary: record.summary } : {}),
    ...(record.tldr ? { tldr: record.tldr } : {}),
    attackPath: record.attackPath,
    ...(record.advice ? { advice: record.advice } : {}),
    classification: record.classification,
    affectedProducts: record.affectedProducts,
    iocs: record.iocs,
    provenance: toProvenance(record, sourceUrl),
    version: stamps.version,
    ...(record.externalId ? { externalId: record.externalId } : {}),
    ...(record.abstract ? { abstract: record.abstract } : {}),
    lastUpdated: stamps.lastUpdated.toISOString(),
    createdAt: stamps.createdAt.toISOString(),
    addedToFeedAt: stamps.addedToFeedAt.toISOString(),
    canonicalKey: record.canonicalKey,
    tenantOverrides: null,
  };
  if (stamps.status === 'retracted') revokeIndicators(item);
  return item;
}

/** Returns the passages of a record, and the footnotes of sentences that a model wrote. */
export const toProvenance = (
  record: Pick<SourceRecord, 'storedText' | 'passages' | 'footnotes'>,
  sourceUrl: string,
): FeedItem['provenance'] => ({
  supportingPassages: toPassages(record, sourceUrl),
  ...(record.footnotes ? { footnotes: record.footnotes } : {}),
});

export const toPassages = (
  { storedText, passages }: Pick<SourceRecord, 'storedText' | 'passages'>,
  sourceUrl: string,
): FeedItem['provenance']['supportingPassages'] =>
  passages.map((charSpan) => ({ text: storedText.slice(charSpan.start, charSpan.end), sourceUrl, charSpan }));

/** Returns the document to store, and when its next indicator expires. */
export function toDocument(item: FeedItem, now: Date): { doc: string; nextExpiryAt: Date | null } {
  const nextExpiryAt = updateExpiry(item, startOfHour(now));
  return { doc: JSON.stringify(item), nextExpiryAt };
}

/** Returns the item after its retraction. It keeps its content, but its indicators are revoked. */
export function retractItem(item: FeedItem, stamps: Pick<ItemStamps, 'version' | 'lastUpdated'>): FeedItem {
  const retracted = { ...item, version: stamps.version, lastUpdated: stamps.lastUpdated.toISOString() };
  retracted.event = { ...item.event, status: 'retracted' };
  revokeIndicators(retracted);
  return retracted;
}

/** Returns the erased item that remains for an audience that may no longer see it. */
export function emptyItem(item: FeedItem, stamps: Pick<ItemStamps, 'version' | 'lastUpdated'>): FeedItem {
  return {
    id: item.id,
    source: { publisher: item.source.publisher, name: item.source.name, tlp: 'CLEAR' },
    event: { title: 'Withdrawn', severity: 'none', confidence: 0, status: 'retracted' },
    attackPath: [],
    classification: { attack: [], killChain: [], malware: [], actor: [], platforms: [], mappings: [] },
    affectedProducts: [],
    iocs: emptyIocs(),
    provenance: { supportingPassages: [] },
    version: stamps.version,
    lastUpdated: stamps.lastUpdated.toISOString(),
    createdAt: item.createdAt,
    addedToFeedAt: item.addedToFeedAt,
    canonicalKey: item.canonicalKey,
    tenantOverrides: null,
  };
}

function revokeIndicators(item: FeedItem): void {
  for (const bucket of buckets) {
    for (const indicator of item.iocs[bucket]) if (indicator.status !== 'false_positive') indicator.status = 'revoked';
  }
}
