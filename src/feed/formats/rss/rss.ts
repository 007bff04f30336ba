import { createHash } from 'node:crypto';
import type { FetchSession, FetchSessionResult, DigestInput } from '../fetch-session.ts';
import { toStorableText } from '../../extraction/text/stored-text.ts';
import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import { readFeed, type FeedEntry } from './read-feed.ts';
import type { SkippedEntry, UnreadText } from '../../model/source-record.ts';
import type { SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';

const atOnce = 3;
const pagesMax = 200;
const failuresMax = 5;
const idMaxChars = 500;
const pageMaxBytes = 4 * 1024 * 1024;
const accepts = 'text/html, application/xhtml+xml, text/plain;q=0.8';
/** Pages are corrected in their first days; after that only a change in the feed has them read again. */
const rereadDays = 7;
const dayMs = 86_400_000;

/** RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed; over the network with the page of each entry. */
export const rss: SourceFormat = {
  label: 'RSS, RDF, Atom and JSON feeds, with their articles',
  isText: true,
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  files: /\.(?:xml|rss|rdf|atom|json)$/i,
  fetch: collect,
  digest: ([feed]) => entriesOf(feed!),
  parse(parts) {
    const texts: UnreadText[] = [];
    const skipped: SkippedEntry[] = [];
    for (const part of parts) {
      if (part.entry) texts.push(unreadOf(part.entry as FeedEntry, part));
      else {
        const { entries, left } = entriesOf(part);
        texts.push(...entries.map((entry) => unreadOf(entry)));
        skipped.push(...left);
      }
    }
    return { records: [], texts, skipped };
  },
};

type Entry = FeedEntry & { recordId: string; hash: string };
type Entries = { entries: Entry[]; left: SkippedEntry[] };

/** The entries of a feed by their identity: the first of several that share one counts. */
function entriesOf(document: Pick<DigestInput, 'bytes'> & Partial<DigestInput>): Entries {
  const feed = readFeed(document);
  const left: SkippedEntry[] =
    feed.left === 0 ? [] : [{ entry: `${feed.left} entries`, reason: 'the feed has more than are read' }];
  const entries = new Map<string, Entry>();
  for (const entry of feed.entries) {
    const hash = hashOf(entry);
    const given = toStorableText(entry.id ?? entry.link ?? hash);
    const recordId = given.length > idMaxChars ? sha256(given) : given;
    if (entries.has(recordId)) left.push({ entry: recordId, reason: 'stands in the feed more than once' });
    else if (!entry.title && !entry.link && !entry.content && !entry.summary)
      left.push({ entry: recordId, reason: 'is empty' });
    else entries.set(recordId, { ...entry, recordId, hash });
  }
  return { entries: [...entries.values()], left };
}

const hashOf = ({ id, link, title, published, updated, content, summary }: FeedEntry): string =>
  sha256(JSON.stringify([id, link, title, published, updated, content, summary]));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function unreadOf(entry: FeedEntry, part?: SourceDocument): UnreadText {
  const { recordId } = entry as Entry;
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

type Held = {
  /** What was made of each entry of the feed: `markOf`. */
  seen?: Record<string, string>;
  /** Until when nothing is to be read while the feed stays the same, and how its server is asked for that. */
  quietUntil?: string;
  etag?: string | undefined;
  lastModified?: string | undefined;
};

/**
 * Reads the feed, and the page of each entry that is new, has changed in the feed, or is of the last days. A page that cannot be fetched
 * is no retraction: a known entry stays as it is, a new one is made of the feed's own text.
 */
async function collect(context: FetchSession): Promise<FetchSessionResult> {
  const held = (context.cursor ?? {}) as Held;
  const known = new Map(Object.entries(held.seen ?? {}));
  const isQuiet = held.quietUntil !== undefined && context.now.toISOString() < held.quietUntil;
  const feed = await context.fetch(context.url, {
    accept: 'application/rss+xml, application/atom+xml, application/feed+json, application/xml, */*;q=0.5',
    ...(isQuiet ? { etag: held.etag, lastModified: held.lastModified } : {}),
  });
  if (!feed) return { parts: [], cursor: held, unchanged: known.size, skipped: [], more: false };
  const { entries, left } = (await context.digest([feed])) as Entries;
  const seen = new Map<string, string>();
  const read = new Map<string, SourceDocument>();
  const skipped = [...left];
  const open = entries.filter((entry) => known.get(entry.recordId) !== markOf(entry, context.now));
  let [next, unchanged] = [0, entries.length - open.length];
  for (const { recordId } of entries) if (known.has(recordId)) seen.set(recordId, known.get(recordId)!);
  const readPage = pageReader(context);
  const lane = async (): Promise<void> => {
    while (next < Math.min(open.length, pagesMax) && context.hasRoom()) {
      const entry = open[next]!;
      next += 1;
      const { recordId } = entry;
      const mark = markOf(entry, context.now);
      const before = known.get(recordId);
      const page = await readPage(entry);
      if (page instanceof Error) {
        const isSame = before?.split(' ')[0] === mark.split(' ')[0];
        if (isSame) unchanged += 1;
        else if (before !== undefined || !(entry.content ?? entry.summary))
          skipped.push({ entry: recordId, reason: page.message });
        else read.set(recordId, { name: recordId, bytes: Buffer.alloc(0), entry });
        if (isSame || read.has(recordId)) seen.set(recordId, mark);
      } else {
        seen.set(recordId, mark);
        read.set(recordId, page);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  const more = next < open.length;
  const isDone = !more && skipped.length === left.length;
  return {
    parts: open.flatMap(({ recordId }) => read.get(recordId) ?? []),
    cursor: {
      seen: Object.fromEntries(seen),
      ...(isDone
        ? { quietUntil: quietUntil(entries, context.now), etag: feed.etag, lastModified: feed.lastModified }
        : {}),
    } satisfies Held,
    cursorWithout: (recordIds) => {
      for (const recordId of recordIds) seen.delete(recordId);
      return { seen: Object.fromEntries(seen) } satisfies Held;
    },
    unchanged,
    skipped,
    more,
  };
}

/** When a page is next to be read again though the feed says nothing new. */
function quietUntil(entries: Entry[], now: Date): string {
  const due = entries.flatMap((entry) =>
    daysOf(entry, now) < rereadDays ? Date.parse(entry.published!) + (daysOf(entry, now) + 1) * dayMs : [],
  );
  return new Date(Math.min(now.getTime() + rereadDays * dayMs, ...due)).toISOString();
}

/** Fetches pages of entries; of a host that fails several times in a row, or asks for more patience than there is, no more. */
function pageReader(context: FetchSession): (entry: Entry) => Promise<SourceDocument | Error> {
  const failures = new Map<string, number>();
  return async (entry) => {
    const { link = '', recordId } = entry;
    const part: SourceDocument = { name: recordId, bytes: Buffer.alloc(0), entry };
    if (!/^https?:\/\//i.test(link)) return part;
    const host = URL.parse(link)?.host ?? '';
    if ((failures.get(host) ?? 0) >= failuresMax) return new Error(`${host} is left alone after its failures`);
    try {
      const found = (await context.fetch(link, { accept: accepts, bytesMax: pageMaxBytes }))!;
      failures.delete(host);
      return { ...part, bytes: found.bytes, url: found.url, contentType: found.contentType };
    } catch (error) {
      const status = error instanceof FetchStatusError ? error.status : 0;
      // An answer that will be the same the next time is no trouble of the server.
      if (status < 400 || status >= 500) failures.set(host, (failures.get(host) ?? 0) + 1);
      if (status === 429) failures.set(host, failuresMax);
      return error instanceof Error ? error : new Error(String(error));
    }
  };
}

/** What the feed says of the entry, and how often its page should have been read by now. */
const markOf = (entry: Entry, now: Date): string => `${entry.hash.slice(0, 32)} ${daysOf(entry, now)}`;

function daysOf({ published }: Entry, now: Date): number {
  const days = published ? Math.floor((now.getTime() - Date.parse(published)) / dayMs) : rereadDays;
  return Math.max(0, Math.min(rereadDays, days));
}
