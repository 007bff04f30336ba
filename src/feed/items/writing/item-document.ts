import { basename } from 'node:path';
import { settleIndicators, fullHour } from '../../model/expiry.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { buckets, stricterTlp, type ItemStatus, type Tlp } from '../../model/vocabulary.ts';
import { confidence, noIocs, type SourceFormat, type SourceRecord } from '../../model/source-record.ts';
import { sourceFormats, type SourceKind } from '../../formats/registry.ts';
import type { Origin } from '../../sources/source-row.ts';

/** What the feed itself says of an item. Times are its own clock, not the source's. */
export type Stamps = {
  id: string;
  version: number;
  status: ItemStatus;
  createdAt: Date;
  addedToFeedAt: Date;
  lastUpdated: Date;
};

const defaultsOf = (kind: SourceKind | null): Partial<SourceFormat['defaults']> =>
  kind === null ? {} : sourceFormats[kind].defaults;

/** Whether what such a source gives is texts; what is posted is. */
export const isTextKind = (kind: SourceKind | null): boolean => {
  const format: SourceFormat | undefined = kind === null ? undefined : sourceFormats[kind];
  return format === undefined || format.isText === true;
};

/** The marking that holds: the record's own where stricter than the source's; unmarked private sources are AMBER, public ones CLEAR. */
export function tlpOfRecord(
  record: Pick<SourceRecord, 'tlp'>,
  source: Pick<Origin, 'tlp' | 'kind' | 'visibility'>,
): Tlp {
  if (source.tlp) return record.tlp ? stricterTlp(source.tlp, record.tlp) : source.tlp;
  const usual = defaultsOf(source.kind).tlp ?? (source.visibility === 'private' ? 'AMBER' : 'CLEAR');
  return record.tlp ?? usual;
}

/** Where a text was fetched, as readers may see it: of a file of this machine only its name. */
export const shownUrl = (url: string): string =>
  url.startsWith('file:') ? `file:///${encodeURIComponent(basename(decodeURIComponent(new URL(url).pathname)))}` : url;

/** The item that a record of a source is. */
export function toItem(record: SourceRecord, source: Origin, stamps: Stamps): FeedItem {
  const defaults = defaultsOf(source.kind);
  const url = record.url ?? (source.url === null ? undefined : shownUrl(source.url));
  // A text that was posted is found nowhere but in its item.
  const sourceUrl = record.textUrl ?? (source.url === null ? `urn:uuid:${stamps.id}` : shownUrl(source.url));
  const license = source.license ?? defaults.license;
  const language = record.language ?? defaults.language;
  const item: FeedItem = {
    id: stamps.id,
    source: {
      ...(url ? { url } : {}),
      publisher: record.publisher ?? source.publisher ?? defaults.publisher ?? source.name,
      ...(record.publishTime ? { publishTime: record.publishTime } : {}),
      ...(language ? { language } : {}),
      name: source.name,
      tlp: tlpOfRecord(record, source),
      ...(license ? { license } : {}),
    },
    event: {
      title: record.title,
      severity: record.severity,
      confidence: confidence(source.reliability),
      status: stamps.status,
      ...(record.eventFirstSeen ? { eventFirstSeen: record.eventFirstSeen } : {}),
      ...(record.eventLastSeen ? { eventLastSeen: record.eventLastSeen } : {}),
    },
    ...(record.summary ? { summary: record.summary } : {}),
    ...(record.tldr ? { tldr: record.tldr } : {}),
    attackPath: record.attackPath,
    classification: record.classification,
    affectedProducts: record.affectedProducts,
    iocs: record.iocs,
    provenance: {
      supportingPassages: record.passages.map((charSpan) => ({
        text: record.storedText.slice(charSpan.start, charSpan.end),
        sourceUrl,
        charSpan,
      })),
    },
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

/** The document as it is stored, and when an indicator in it next runs out. */
export function toDocument(item: FeedItem, now: Date): { doc: string; nextExpiryAt: Date | null } {
  const nextExpiryAt = settleIndicators(item, fullHour(now));
  return { doc: JSON.stringify(item), nextExpiryAt };
}

/** A held item as it stands after its retraction: the content stays, nothing in it is to be acted on. */
export function retractItem(item: FeedItem, stamps: Pick<Stamps, 'version' | 'lastUpdated'>): FeedItem {
  const retracted = { ...item, version: stamps.version, lastUpdated: stamps.lastUpdated.toISOString() };
  retracted.event = { ...item.event, status: 'retracted' };
  revokeIndicators(retracted);
  return retracted;
}

/** What is left for those who lost sight of an item: that it was there. */
export function emptyItem(item: FeedItem, stamps: Pick<Stamps, 'version' | 'lastUpdated'>): FeedItem {
  return {
    id: item.id,
    source: { publisher: item.source.publisher, name: item.source.name, tlp: 'CLEAR' },
    event: { title: 'Withdrawn', severity: 'none', confidence: 0, status: 'retracted' },
    attackPath: [],
    classification: { attack: [], killChain: [], malware: [], actor: [], platforms: [], mappings: [] },
    affectedProducts: [],
    iocs: noIocs(),
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
