import type { Advice, AffectedProduct, Classification, FeedItem, Footnote, Iocs } from './item.schema.ts';
import { type Severity, type Tlp, buckets } from './vocabulary.ts';

/** A record of a source after parsing and extraction, before it is compared with the feed. Times are ISO text. */
export type SourceRecord = {
  /** The source's own id of the record, stable across pulls. */
  recordId: string;
  canonicalKey: string;
  /** All ids that the source lists for the vulnerability. Two records that share an alias describe the same vulnerability. */
  aliases?: string[] | undefined;
  externalId?: string | undefined;
  title: string;
  publisher?: string | undefined;
  language?: string | undefined;
  url?: string | undefined;
  /** The address that the stored text was fetched from, if that is not the source's own address. */
  textUrl?: string | undefined;
  publishTime?: string | undefined;
  /** When the source last changed the record. An older record never replaces a newer one. */
  modifiedAt?: string | undefined;
  /** The record's own marking. */
  tlp?: Tlp | undefined;
  /** Whether the source has withdrawn the record. */
  withdrawn: boolean;
  severity: Severity;
  severityRule: string;
  /** References to the passages that decided the severity of a text. */
  severityEvidence?: string[];
  eventFirstSeen?: string | undefined;
  eventLastSeen?: string | undefined;
  summary?: string | undefined;
  tldr?: string | undefined;
  abstract?: string | undefined;
  attackPath: string[];
  advice?: Advice[];
  footnotes?: Footnote[];
  classification: Classification;
  affectedProducts: AffectedProduct[];
  iocs: Iocs;
  storedText: string;
  /** The STIX objects that the record was parsed from, as a JSON array. */
  originals?: string | undefined;
  /** UTF-16 units of `storedText`, end exclusive. */
  passages: FeedItem['provenance']['supportingPassages'][number]['charSpan'][];
  /** Set if the stored text is an article. Edits of a few words do not count as a change. */
  isProse?: true;
};

/** Longest text that is read of an entry, in UTF-16 units. */
export const textMaxChars = 1_000_000;

/** Returns whether only the beginning of the text of an entry was read. */
export const isCutText = ({ storedText }: SourceRecord): boolean => storedText.length >= textMaxChars;

/** Explains in `skipped` why the end of a text is missing. */
export const cutReason = `only the first ${textMaxChars} characters of its text were read`;

/** An entry of a source that did not become a record. */
export type SkippedEntry = { entry: string; reason: string };

/** A feed entry whose text has not been extracted yet: its page if there is one, otherwise the text in the feed. */
export type UnreadText = Pick<SourceRecord, 'recordId' | 'externalId' | 'publishTime' | 'modifiedAt' | 'language'> & {
  title?: string | undefined;
  link?: string | undefined;
  html?: string | undefined;
  page?: { bytes: Uint8Array; contentType: string | undefined; url: string };
};

/** Predictions of a source. A batch is the JSON text of a list of `[cve, probability, percentile]`, which the main thread passes on unparsed. */
export type PredictionList = { scoredAt: string; count: number; batches: string[] };

/** Clamps a confidence to 0 to 1 and rounds it to two decimals. */
export const roundConfidence = (value: number): number => Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;

/** Returns lists without indicators, in the order of `buckets`. */
export const emptyIocs = (): Iocs => ({
  ipv4: [],
  ipv6: [],
  domains: [],
  urls: [],
  hashes: [],
  files: [],
  registryKeys: [],
  processes: [],
  certs: [],
  cloudIds: [],
  mobileIds: [],
});

const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** The form of most times, on a day that every month has. */
const utcTime =
  /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;

/** Parses a date of a source and returns it as ISO text in UTC, or undefined if it is not a date. A date without a zone is read as UTC. */
export function parseInstant(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 64) return undefined;
  if (utcTime.test(value)) return value.length === 24 ? value : `${value.slice(0, 19)}.000Z`;
  const text = value.trim();
  const time = Date.parse(zoneless.test(text) ? `${text}Z` : text);
  return Number.isNaN(time) || time < -6e13 || time > 8e13 ? undefined : new Date(time).toISOString();
}

/** Compares times of `parseInstant` for sorting, the earliest first. Records without a time come before all others. */
export function comparePublishTimes(a = '', b = ''): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// No source writes about threats from before 1981. 1970 and 1980 are the zero of two clocks.
const earliest = '1981';
const aheadMaxMs = 2 * 86_400_000;

/** Returns whether a time of a source can be true: neither more than two days in the future, nor before 1981. `time` is ISO text. */
export const isBelievable = (time: string, now: Date): boolean => createBelievableCheck(now)(time);

/** Returns `isBelievable` for one time of the pull. */
export function createBelievableCheck(now: Date): (time: string) => boolean {
  const latest = new Date(now.getTime() + aheadMaxMs).toISOString();
  return (time) => time >= earliest && time <= latest;
}

/**
 * Removes the dates that cannot be true: more than two days in the future, or from before 1981. An unbelievable publish time is replaced by the
 * time of the last change.
 */
export const removeUnbelievableDates = (record: SourceRecord, now: Date): SourceRecord =>
  createDateFilter(now).filterDates(record);

type RecordTimes = Pick<SourceRecord, 'publishTime' | 'modifiedAt'>;

/** The functions of `removeUnbelievableDates` for one time of the pull. `filterPublishTime` returns the publish time that a record has after it. */
type DateFilter = {
  filterDates: (record: SourceRecord) => SourceRecord;
  filterPublishTime: (times: RecordTimes) => string | undefined;
};

export function createDateFilter(now: Date): DateFilter {
  const isTrue = createBelievableCheck(now);
  const believe: Believe = (time) => (time !== undefined && isTrue(time) ? time : undefined);
  return {
    filterDates: (record) => filterDates(record, believe),
    filterPublishTime: (times) => filterPublishTime(times, believe),
  };
}

type Believe = (time: string | undefined) => string | undefined;

const filterPublishTime = ({ publishTime, modifiedAt }: RecordTimes, believe: Believe): string | undefined =>
  believe(publishTime) ?? (publishTime ? believe(modifiedAt) : undefined);

function filterDates(record: SourceRecord, believe: Believe): SourceRecord {
  for (const bucket of buckets)
    for (const indicator of record.iocs[bucket]) {
      if (indicator.firstSeen && !believe(indicator.firstSeen)) delete indicator.firstSeen;
      if (indicator.lastSeen && !believe(indicator.lastSeen)) delete indicator.lastSeen;
    }
  return {
    ...record,
    publishTime: filterPublishTime(record, believe),
    modifiedAt: believe(record.modifiedAt),
    eventFirstSeen: believe(record.eventFirstSeen),
    eventLastSeen: believe(record.eventLastSeen),
  };
}

/** Removes a publish time that cannot be true from a text before it is read, because the severity depends on it. */
export const removeUnbelievableTime = (text: UnreadText, now: Date): UnreadText =>
  text.publishTime && !isBelievable(text.publishTime, now) ? { ...text, publishTime: undefined } : text;

/** Returns what an item stores about its severity: the rule, followed by references to the passages that decided. */
export const toSeverityText = ({
  severityRule,
  severityEvidence = [],
}: Pick<SourceRecord, 'severityRule' | 'severityEvidence'>): string => [severityRule, ...severityEvidence].join(' ');

/** Reads the text of `toSeverityText`. Returns undefined if no passage decided. */
export function readSeverityBasis(text: string): { rule: string; evidenceRefs: string[] } | undefined {
  const [rule = '', ...evidenceRefs] = text.split(' ');
  return evidenceRefs.length === 0 ? undefined : { rule, evidenceRefs };
}

/** The record id of a further part of a large report or event, from 2. The first part has the id of the whole. */
export const toPartId = (wholeId: string, part: number): string => `${wholeId} [part ${part}]`;

/** Returns the record id of the whole that a part belongs to, or undefined if the id is not that of a further part. */
export const findWholeId = (recordId: string): string | undefined => /^(.*) \[part \d+\]$/s.exec(recordId)?.[1];

/** Returns the host of an address without `www.`, by which its publisher is known. Undefined if there is no address with a host. */
export const toPublisherHost = (url: string | undefined): string | undefined =>
  (url && URL.parse(url)?.hostname.replace(/^www\./, '')) || undefined;
