import type { AffectedProduct, Classification, Iocs } from './item.schema.ts';
import { buckets, type Severity, type Tlp } from './vocabulary.ts';
import type { CollectContext, Collection, Digestible } from '../formats/fetch-session.ts';
import type { Span } from '../extraction/text/stored-text.ts';

/** One record of a source, read and understood, before it meets the feed. Times are ISO text. */
export type SourceRecord = {
  /** The source's own identity of the record: equal over pulls. */
  recordId: string;
  canonicalKey: string;
  /** Every name that the source gives to the one vulnerability which the record is about; two records that share one are one story. */
  aliases?: string[] | undefined;
  externalId?: string | undefined;
  title: string;
  publisher?: string | undefined;
  language?: string | undefined;
  url?: string | undefined;
  /** Where the stored text was fetched, where that is not the source's own address. */
  textUrl?: string | undefined;
  publishTime?: string | undefined;
  /** When the source last changed the record: an older one never replaces a newer. */
  modifiedAt?: string | undefined;
  /** The record's own marking. */
  tlp?: Tlp | undefined;
  /** The source took it back. */
  withdrawn: boolean;
  severity: Severity;
  severityRule: string;
  eventFirstSeen?: string | undefined;
  eventLastSeen?: string | undefined;
  summary?: string | undefined;
  tldr?: string | undefined;
  abstract?: string | undefined;
  attackPath: string[];
  classification: Classification;
  affectedProducts: AffectedProduct[];
  iocs: Iocs;
  storedText: string;
  /** The STIX objects that it came as: a JSON list. */
  originals?: string | undefined;
  passages: Span[];
  /** Its text is an article's: changes of a few words do not count. */
  isProse?: true;
};

export type Skipped = { entry: string; reason: string };

/** One document of a source. `url`: where it was fetched, where that is not the source's own address. */
export type Part = {
  name: string;
  bytes: Buffer;
  url?: string;
  contentType?: string | undefined;
  /** When it was last changed, where its server says so. ISO text. */
  modified?: string | undefined;
  /** One of several that a list names: where it cannot be read it is skipped, also when it came alone. */
  isListed?: true;
  /** What `collect` knows of the document from the index that named it. */
  entry?: unknown;
};

/** An entry of a feed whose text is still to be read, which a thread does: its page where there is one, else what the feed has of it. */
export type UnreadText = Pick<SourceRecord, 'recordId' | 'externalId' | 'publishTime' | 'modifiedAt' | 'language'> & {
  title?: string | undefined;
  link?: string | undefined;
  html?: string | undefined;
  page?: { bytes: Uint8Array; contentType: string | undefined; url: string };
};

export type Parsed = {
  records: SourceRecord[];
  /** Become records once they are read. */
  texts?: UnreadText[];
  /** Ids of records whose text there was no time to read. */
  late?: string[];
  skipped: Skipped[];
  /** Records that were not read again, since their source says that they have not changed. */
  unchanged?: number;
  /** Set where the document is a whole catalogue: a row that is absent from it is gone. */
  catalogue?: { declared: number; rows: number; released: string };
};

/** What a parser may know of its source: how far it is trusted, 0 to 1. */
export type ParseContext = { reliability: number };

/** A format of sources. `parse` is pure; it throws an Error whose message says why the document as a whole cannot be used. */
export type SourceFormat = {
  label: string;
  /** Its records are texts and not fields: articles that are compared by their words. */
  isText?: true;
  /** Reads a source of several documents over the network. Without, and where it answers undefined, one document stands at the address. */
  collect?: (context: CollectContext) => Promise<Collection> | undefined;
  /** What `collect` must know of documents to go on. Pure: large ones are read in a thread. Throws an Error that may be shown. */
  digest?: (documents: Digestible[]) => unknown;
  /** Which files of a directory are read, in folders within it too; `.json` and `.json.gz` where left out. */
  files?: RegExp;
  parse: (parts: Part[], context: ParseContext) => Parsed;
  /** What a source of this kind has where it says nothing. */
  defaults: {
    publisher?: string;
    tlp?: Tlp;
    license?: string;
    language?: string;
    reliability: number;
    schedule: string;
  };
};

/** Two decimals, within 0 and 1. */
export const confidence = (value: number): number => Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;

export const noIocs = (): Iocs => Object.fromEntries(buckets.map((bucket) => [bucket, []])) as unknown as Iocs;

const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** ISO text in UTC of a date that a source wrote, or undefined for what is none. One without a zone is UTC, wherever this runs. */
export function instant(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 64) return undefined;
  const text = value.trim();
  const time = Date.parse(zoneless.test(text) ? `${text}Z` : text);
  return Number.isNaN(time) || time < -6e13 || time > 8e13 ? undefined : new Date(time).toISOString();
}
