import { createHash } from 'node:crypto';
import type { FetchSession, FetchSessionResult, DigestInput } from '../fetch-session.ts';
import { toStorableText } from '../../extraction/text/stored-text.ts';
import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import type { FeedEntry } from './feed-entry.ts';
import { readFeed } from './read-feed.ts';
import type { SkippedEntry, UnreadText } from '../../model/source-record.ts';
import type { SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';

const concurrency = 3;
const pagesMax = 200;
const hostFailuresMax = 5;
const idMaxChars = 500;
const pageMaxBytes = 4 * 1024 * 1024;
const feedTypes = 'application/rss+xml, application/atom+xml, application/feed+json, application/xml, */*;q=0.5';
const pageTypes = 'text/html, application/xhtml+xml, text/plain;q=0.8';
/** Pages are fetched again daily for this long, because they are often corrected. Later only a change in the feed causes it. */
const rereadDays = 7;
const dayMs = 86_400_000;

/** RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed, and the page of each entry if fetched over the network. */
export const rss: SourceFormat = {
  label: 'RSS, RDF, Atom and JSON feeds, with their articles',
  isText: true,
  accept: feedTypes,
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  files: /\.(?:xml|rss|rdf|atom|json)$/i,
  fetch: fetchFeed,
  digest: ([feed]) => parseEntries(feed!),
  parse(parts) {
    const texts: UnreadText[] = [];
    const skipped: SkippedEntry[] = [];
    for (const part of parts) {
      if (part.entry) texts.push(toUnreadText(part.entry as FeedEntry, part));
      else {
        const { entries, skipped: omitted } = parseEntries(part);
        texts.push(...entries.map((entry) => toUnreadText(entry)));
        skipped.push(...omitted);
      }
    }
    return { records: [], texts, skipped };
  },
};

type IdentifiedEntry = FeedEntry & { recordId: string; hash: string };
type ParsedFeed = { entries: IdentifiedEntry[]; skipped: SkippedEntry[] };

/** Returns the entries of a feed. Only the first of several with the same id is used. */
function parseEntries(document: Pick<DigestInput, 'bytes'> & Partial<DigestInput>): ParsedFeed {
  const feed = readFeed(document);
  const skipped: SkippedEntry[] =
    feed.omitted === 0 ? [] : [{ entry: `${feed.omitted} entries`, reason: 'the feed exceeds the entry limit' }];
  const entries = new Map<string, IdentifiedEntry>();
  for (const entry of feed.entries) {
    const hash = hashEntry(entry);
    const id = toStorableText(entry.id ?? entry.link ?? hash);
    const recordId = id.length > idMaxChars ? sha256(id) : id;
    if (entries.has(recordId)) skipped.push({ entry: recordId, reason: 'occurs in the feed more than once' });
    else if (!entry.title && !entry.link && !entry.content && !entry.summary)
      skipped.push({ entry: recordId, reason: 'is empty' });
    else entries.set(recordId, { ...entry, recordId, hash });
  }
  return { entries: [...entries.values()], skipped };
}

const hashEntry = ({ id, link, title, published, updated, content, summary }: FeedEntry): string =>
  sha256(JSON.stringify([id, link, title, published, updated, content, summary]));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function toUnreadText(entry: FeedEntry, part?: SourceDocument): UnreadText {
  const { recordId } = entry as IdentifiedEntry;
  return {
    recordId,
    externalId: entry.id?.slice(0, idMaxChars).toWellFormed(),
    title: entry.title,
    link: /^https?:\/\//i.test(entry.link ?? '') ? entry.link : undefined,
    publishTime: entry.published ?? entry.created ?? entry.updated,
    modifiedAt: entry.updated,
    language: entry.language?.slice(0, 35),
    html: entry.content ?? entry.summary,
    ...(part && part.bytes.length > 0
      ? { page: { bytes: part.bytes, contentType: part.contentType, url: part.url! } }
      : {}),
  };
}

type RssCursor = {
  /** The state of each entry as of `toState`. */
  seen?: Record<string, string>;
  /** The time until which no page is due if the feed does not change, with the validators of a conditional request. */
  quietUntil?: string;
  etag?: string | undefined;
  lastModified?: string | undefined;
};

/**
 * Fetches the feed and the page of each entry that is new, has changed in the feed, or is recent. If a page cannot be fetched, a known entry
 * stays unchanged and a new one uses the feed's own text.
 */
async function fetchFeed(session: FetchSession): Promise<FetchSessionResult> {
  const before = (session.cursor ?? {}) as RssCursor;
  const known = new Map(Object.entries(before.seen ?? {}));
  const isQuiet = before.quietUntil !== undefined && session.now.toISOString() < before.quietUntil;
  const feed = await session.fetch(session.url, {
    accept: feedTypes,
    ...(isQuiet ? { etag: before.etag, lastModified: before.lastModified } : {}),
  });
  if (!feed) return { parts: [], cursor: before, unchanged: known.size, skipped: [], more: false };
  const { entries, skipped: omitted } = (await session.digest([feed])) as ParsedFeed;
  const seen = new Map<string, string>();
  const read = new Map<string, SourceDocument>();
  const skipped = [...omitted];
  const pending = entries.filter((entry) => known.get(entry.recordId) !== toState(entry, session.now));
  let [next, unchanged] = [0, entries.length - pending.length];
  for (const { recordId } of entries) if (known.has(recordId)) seen.set(recordId, known.get(recordId)!);
  const fetchPage = createPageFetcher(session);
  const runLane = async (): Promise<void> => {
    while (next < Math.min(pending.length, pagesMax) && session.hasRoom()) {
      const entry = pending[next]!;
      next += 1;
      const { recordId } = entry;
      const state = toState(entry, session.now);
      const knownState = known.get(recordId);
      const page = await fetchPage(entry);
      if (page instanceof Error) {
        const isSame = knownState?.split(' ')[0] === state.split(' ')[0];
        if (isSame) unchanged += 1;
        else if (knownState !== undefined || !(entry.content ?? entry.summary))
          skipped.push({ entry: recordId, reason: page.message });
        else read.set(recordId, { name: recordId, bytes: Buffer.alloc(0), entry });
        if (isSame || read.has(recordId)) seen.set(recordId, state);
      } else {
        seen.set(recordId, state);
        read.set(recordId, page);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runLane));
  const more = next < pending.length;
  const isDone = !more && skipped.length === omitted.length;
  return {
    parts: pending.flatMap(({ recordId }) => read.get(recordId) ?? []),
    cursor: {
      seen: Object.fromEntries(seen),
      ...(isDone
        ? { quietUntil: findQuietEnd(entries, session.now), etag: feed.etag, lastModified: feed.lastModified }
        : {}),
    } satisfies RssCursor,
    cursorWithout: (recordIds) => {
      for (const recordId of recordIds) seen.delete(recordId);
      return { seen: Object.fromEntries(seen) } satisfies RssCursor;
    },
    unchanged,
    skipped,
    more,
  };
}

/** Returns when the next page is due although the feed has not changed. */
function findQuietEnd(entries: IdentifiedEntry[], now: Date): string {
  const due = entries.flatMap((entry) =>
    countDays(entry, now) < rereadDays ? Date.parse(entry.published!) + (countDays(entry, now) + 1) * dayMs : [],
  );
  return new Date(Math.min(now.getTime() + rereadDays * dayMs, ...due)).toISOString();
}

/** Returns a function that fetches pages and skips a host after several failures in a row or status 429. */
function createPageFetcher(session: FetchSession): (entry: IdentifiedEntry) => Promise<SourceDocument | Error> {
  const failures = new Map<string, number>();
  return async (entry) => {
    const { link = '', recordId } = entry;
    const part: SourceDocument = { name: recordId, bytes: Buffer.alloc(0), entry };
    if (!/^https?:\/\//i.test(link)) return part;
    const host = URL.parse(link)?.host ?? '';
    if ((failures.get(host) ?? 0) >= hostFailuresMax) return new Error(`${host} was skipped after repeated failures`);
    try {
      const found = (await session.fetch(link, { accept: pageTypes, bytesMax: pageMaxBytes }))!;
      failures.delete(host);
      return { ...part, bytes: found.bytes, url: found.url, contentType: found.contentType };
    } catch (error) {
      const status = error instanceof FetchStatusError ? error.status : 0;
      // A client error is permanent and does not indicate an overloaded server.
      if (status < 400 || status >= 500) failures.set(host, (failures.get(host) ?? 0) + 1);
      if (status === 429) failures.set(host, hostFailuresMax);
      return error instanceof Error ? error : new Error(String(error));
    }
  };
}

/** Returns the hash of the entry in the feed and the number of daily fetches that are due. */
const toState = (entry: IdentifiedEntry, now: Date): string => `${entry.hash.slice(0, 32)} ${countDays(entry, now)}`;

function countDays({ published }: IdentifiedEntry, now: Date): number {
  const days = published ? Math.floor((now.getTime() - Date.parse(published)) / dayMs) : rereadDays;
  return Math.max(0, Math.min(rereadDays, days));
}
