import { ExternalError } from '../../../platform/lib/external-error.ts';
import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import { comparePublishTimes, type SkippedEntry, type UnreadText } from '../../model/source-record.ts';
import type { FetchSession, FetchSessionResult, SourceDocument } from '../fetch-session.ts';
import { toSkipped } from '../read-parts.ts';
import type { ParseResult, SourceFormat } from '../source-format.ts';
import { type FeedEntry, type IdentifiedEntry, identifyEntries, idMaxChars } from './read-feed.ts';
import {
  areCurrent,
  type EntrySelection,
  type FeedState,
  keepEntries,
  type KeptEntries,
  packFeedState,
  selectEntries,
  selectKeptEntries,
  toState,
  toStateKey,
} from './select-entries.ts';

const feedTypes = 'application/rss+xml, application/atom+xml, application/feed+json, application/xml, */*;q=0.5';
const pageTypes = 'text/html, application/xhtml+xml, application/pdf;q=0.9, text/plain;q=0.8';
const concurrency = 3;
const hostFailuresMax = 5;
const failedMax = 2_000;
const pageMaxBytes = 4 * 1024 * 1024;

type RssCursor = FeedState & {
  /** The time until which no page is due if the feed does not change, with the validators of a conditional request. */
  quietUntil?: string;
  /** New entries beyond the bounds of the last pull. */
  kept?: KeptEntries | undefined;
  etag?: string | undefined;
  lastModified?: string | undefined;
};

/**
 * Fetches the feed and the page of each entry that is new, has changed in the feed, or is recent, up to the bounds of a batch. The next pull
 * reads the entries beyond it without a second download, unless they are too large to be kept. If a page cannot be fetched, a known entry stays
 * unchanged and a new one uses the feed's own text.
 */
async function fetchFeed(session: FetchSession): Promise<FetchSessionResult> {
  const before = (session.cursor ?? {}) as RssCursor;
  const feed = await openFeed(session, before);
  if (!feed) {
    const unchanged = Object.keys(before.seen ?? {}).length;
    return { parts: [], cursor: before, unchanged, skipped: [], more: false };
  }
  const { selection, downloadedAt, etag, lastModified } = feed;
  const { hasPages, quietUntil, rest } = selection;
  const { read, seen, failed, skipped, unchanged, unread } = await fetchPages(session, selection);
  const more = selection.hasMore || unread.length > 0;
  const allFailed = [...selection.failed, ...failed];
  const isDone = !more && allFailed.length === 0;
  const kept =
    rest && keepEntries({ downloadedAt, etag, lastModified, entries: [...unread, ...rest], hasPages, quietUntil });
  return {
    parts: selection.batch.flatMap(({ recordId }) => read.get(recordId) ?? []),
    cursor: {
      seen: Object.fromEntries(seen),
      ...(allFailed.length > 0 ? { failed: allFailed.slice(0, failedMax) } : {}),
      ...(isDone ? { quietUntil, etag, lastModified } : {}),
      ...(kept ? { kept } : {}),
    } satisfies RssCursor,
    cursorWithout: (recordIds) => {
      for (const recordId of recordIds) seen.delete(toStateKey(recordId));
      return { seen: Object.fromEntries(seen) } satisfies RssCursor;
    },
    unchanged: selection.unchanged + unchanged,
    skipped: [...selection.skipped, ...skipped],
    more,
  };
}

type OpenFeed = Pick<KeptEntries, 'downloadedAt' | 'etag' | 'lastModified'> & { selection: EntrySelection };

/** Selects the entries of this pull from those that the last pull kept, or downloads the feed. Returns undefined if the feed has not changed. */
async function openFeed(session: FetchSession, before: RssCursor): Promise<OpenFeed | undefined> {
  const { kept } = before;
  if (kept && areCurrent(kept, session.now)) {
    const { downloadedAt, etag, lastModified } = kept;
    return { selection: selectKeptEntries(kept, before), downloadedAt, etag, lastModified };
  }
  const isQuiet = before.quietUntil !== undefined && session.now.toISOString() < before.quietUntil;
  const feed = await session.fetch(session.url, {
    accept: feedTypes,
    ...(isQuiet ? { etag: before.etag, lastModified: before.lastModified } : {}),
  });
  if (!feed) return undefined;
  const state = packFeedState({ seen: before.seen, failed: before.failed }, session.now);
  const selection = (await session.digest([feed, state])) as EntrySelection;
  const { etag, lastModified } = feed;
  return { selection, downloadedAt: session.now.toISOString(), etag, lastModified };
}

type FetchedPages = {
  read: Map<string, SourceDocument>;
  /** The states after the pull. */
  seen: Map<string, string>;
  /** The keys of entries whose page could not be fetched and that have no other text. */
  failed: string[];
  skipped: SkippedEntry[];
  unchanged: number;
  /** The entries of the batch that the bounds of the pull left. */
  unread: IdentifiedEntry[];
};

async function fetchPages(session: FetchSession, selection: EntrySelection): Promise<FetchedPages> {
  const { batch, hasPages } = selection;
  const pages: Omit<FetchedPages, 'unread'> = {
    read: new Map(),
    seen: new Map(Object.entries(selection.seen)),
    failed: [],
    skipped: [],
    unchanged: 0,
  };
  const fetchPage = hasPages ? createPageFetcher(session) : toTextOfFeed;
  const hasRoom = (): boolean => !hasPages || session.hasRoom();
  let next = 0;
  const runLane = async (): Promise<void> => {
    while (next < batch.length && hasRoom()) {
      const entry = batch[next]!;
      next += 1;
      addPage(pages, entry, await fetchPage(entry), session.now);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runLane));
  return { ...pages, unread: batch.slice(next) };
}

function addPage(
  pages: Omit<FetchedPages, 'unread'>,
  entry: IdentifiedEntry,
  page: SourceDocument | Error,
  now: Date,
): void {
  const { recordId } = entry;
  const [key, state] = [toStateKey(recordId), toState(entry, now)];
  const knownState = pages.seen.get(key);
  const isSame = knownState?.split(' ')[0] === state.split(' ')[0];
  const hasText = knownState === undefined && Boolean(entry.content ?? entry.summary);
  if (page instanceof Error && !isSame && !hasText) {
    pages.skipped.push({ entry: recordId, reason: page.message });
    pages.failed.push(key);
    return;
  }
  pages.seen.set(key, state);
  if (!(page instanceof Error)) pages.read.set(recordId, page);
  else if (isSame) pages.unchanged += 1;
  else pages.read.set(recordId, { name: recordId, bytes: Buffer.alloc(0), entry });
}

const toTextOfFeed = (entry: IdentifiedEntry): SourceDocument | Error =>
  (entry.content ?? entry.summary)
    ? { name: entry.recordId, bytes: Buffer.alloc(0), entry }
    : new ExternalError('the feed is too large to fetch its pages, and has no text of this entry');

/** Returns a function that fetches pages and skips a host after several failures in a row or status 429. */
function createPageFetcher(session: FetchSession): (entry: IdentifiedEntry) => Promise<SourceDocument | Error> {
  const failures = new Map<string, number>();
  return async (entry) => {
    const { link = '', recordId } = entry;
    const part: SourceDocument = { name: recordId, bytes: Buffer.alloc(0), entry };
    if (!/^https?:\/\//i.test(link)) return part;
    const host = URL.parse(link)?.host ?? '';
    if ((failures.get(host) ?? 0) >= hostFailuresMax)
      return new ExternalError(`${host} was skipped after repeated failures`);
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

/** RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed, and the page of each entry if fetched over the network. */
export const rss: SourceFormat = {
  label: 'RSS, RDF, Atom and JSON feeds, with their articles',
  isText: true,
  accept: feedTypes,
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  files: /\.(?:xml|rss|rdf|atom|json)$/i,
  fetch: fetchFeed,
  digest: ([feed, state]) => selectEntries(feed!, state!),
  parse: parseFeeds,
};

/** Reads the feeds of a directory and the pages of entries. A feed that cannot be read is skipped, or throws if it is the only one. */
function parseFeeds(parts: SourceDocument[]): ParseResult {
  const texts = new Map<string, UnreadText>();
  const skipped: ParseResult['skipped'] = [];
  const add = (text: UnreadText): void => {
    const known = texts.get(text.recordId);
    const order = known ? comparePublishTimes(timeOf(text), timeOf(known)) : 1;
    if (order > 0) texts.set(text.recordId, text);
    else if (order === 0 && (text.html !== known?.html || text.title !== known?.title))
      skipped.push({ entry: text.recordId, reason: 'another entry of the directory has the same id and time' });
  };
  for (const part of parts) {
    if (part.entry) {
      add(toUnreadText(part.entry as FeedEntry, part));
      continue;
    }
    try {
      skipped.push(...identifyEntries(part, (entry) => add(toUnreadText(entry))));
    } catch (error) {
      if (parts.length === 1) throw error;
      skipped.push(toSkipped(part.name, error));
    }
  }
  return { records: [], texts: [...texts.values()], skipped };
}

const timeOf = ({ modifiedAt, publishTime }: UnreadText): string | undefined => modifiedAt ?? publishTime;

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
