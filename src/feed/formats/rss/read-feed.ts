import { createHash } from 'node:crypto';
import { isObject, asText, asObject, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from '../decode-document.ts';
import { readFeedEntry, type FeedEntry } from './feed-entry.ts';
import { scanXml, resolveAddress, escapeText } from './read-xml.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { parseFeedDate } from '../parse-date.ts';
import { toStorableText } from '../../../platform/lib/text/storable-text.ts';
import type { SkippedEntry } from '../../model/source-record.ts';
import type { DigestInput } from '../fetch-session.ts';

type FeedDocument = { bytes: Buffer; contentType?: string | undefined; url?: string | undefined };

const entriesMax = 100_000;

/**
 * Reads RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed, well formed or not, in any encoding. Relative addresses are resolved
 * against `url`. Passes on one entry after the other and returns the number of entries beyond the limit. Throws an Error with the reason if
 * the document is not a feed.
 */
function scanFeed(document: FeedDocument, onEntry: (entry: FeedEntry) => void): { omitted: number } {
  const text = decodeDocument(document.bytes, document.contentType).replace(/^\uFEFF/, '');
  return /^\s*\{/.test(text) ? scanJson(text, document.url, onEntry) : scanXmlFeed(text, document.url, onEntry);
}

/** Returns all entries of a feed. See `scanFeed`. */
export function readFeed(document: FeedDocument): { entries: FeedEntry[]; omitted: number } {
  const entries: FeedEntry[] = [];
  const { omitted } = scanFeed(document, (entry) => entries.push(entry));
  return { entries, omitted };
}

function scanJson(text: string, url: string | undefined, onEntry: (entry: FeedEntry) => void): { omitted: number } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ExternalError('the document is not valid JSON', { cause: error });
  }
  if (!isObject(value) || !Array.isArray(value['items']) || !(asText(value['version']) ?? asText(value['title'])))
    throw new ExternalError('the document is not a JSON Feed');
  const items = value['items'] as unknown[];
  for (const entry of readJsonFeed(value, items.slice(0, entriesMax), url)) onEntry(entry);
  return { omitted: Math.max(0, items.length - entriesMax) };
}

/** Entries are found at any depth, because feeds wrap them differently and malformed feeds close elements early. */
function scanXmlFeed(text: string, url: string | undefined, onEntry: (entry: FeedEntry) => void): { omitted: number } {
  let [isFeed, count] = [false, 0];
  scanXml(text, {
    isKept: isEntry,
    onKept(element) {
      count += 1;
      if (count <= entriesMax) onEntry(readFeedEntry(element, url));
    },
    onElement(name) {
      isFeed ||= isRoot(name);
    },
  });
  if (!isFeed) throw new ExternalError('the document is not an RSS, RDF, Atom or JSON feed');
  return { omitted: Math.max(0, count - entriesMax) };
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
const isRoot = (name: string): boolean =>
  ['rss', 'rdf:rdf', 'feed', 'atom:feed', 'channel', 'rdf'].includes(name) ||
  localName(name) === 'feed' ||
  localName(name) === 'rss';
const isEntry = (name: string): boolean =>
  ['item', 'entry', 'atom:entry'].includes(name) ||
  (name.startsWith('other-') && ['item', 'entry'].includes(localName(name)));

/** Returns items of a JSON Feed (https://jsonfeed.org/version/1.1) as entries. An item that is not an object becomes an empty entry. */
function readJsonFeed(feed: JsonObject, items: unknown[], documentUrl: string | undefined): FeedEntry[] {
  const language = asText(feed['language']);
  return items.map(asObject).map((item) => {
    const plain = asText(item['content_text']);
    const id = item['id'];
    return {
      id: typeof id === 'number' ? String(id) : asText(id),
      link: resolveAddress(asText(item['url']) ?? asText(item['external_url']), documentUrl),
      title: asText(item['title']),
      published: parseFeedDate(asText(item['date_published'])),
      updated: parseFeedDate(asText(item['date_modified'])),
      content: asText(item['content_html']) ?? (plain && `<pre>${escapeText(plain)}</pre>`),
      summary: asText(item['summary']) && escapeText(asText(item['summary'])!),
      language: asText(item['language']) ?? language,
    };
  });
}

/** An entry with its id in the source. `hash` changes with its text. */
export type IdentifiedEntry = FeedEntry & { recordId: string; hash: string };

export const idMaxChars = 500;
const skippedMax = 500;

/** Passes on the entries of a feed, of several with the same id only the first. Returns the entries that were skipped. */
export function identifyEntries(
  document: Pick<DigestInput, 'bytes'> & Partial<DigestInput>,
  onEntry: (entry: IdentifiedEntry) => void,
): SkippedEntry[] {
  const skipped: SkippedEntry[] = [];
  const seen = new Set<string>();
  let unlisted = 0;
  const skip = (entry: string, reason: string): void => {
    if (skipped.length < skippedMax) skipped.push({ entry, reason });
    else unlisted += 1;
  };
  const { omitted } = scanFeed(document, (entry) => {
    const hash = hashEntry(entry);
    const id = toStorableText(entry.id ?? entry.link ?? hash);
    const recordId = id.length > idMaxChars ? sha256(id) : id;
    if (seen.has(recordId)) skip(recordId, 'occurs in the feed more than once');
    else if (!entry.title && !entry.link && !entry.content && !entry.summary) skip(recordId, 'is empty');
    else {
      seen.add(recordId);
      onEntry({ ...entry, recordId, hash });
    }
  });
  if (unlisted > 0) skipped.push({ entry: `${unlisted} entries`, reason: 'are empty or occur more than once' });
  if (omitted > 0) skipped.push({ entry: `${omitted} entries`, reason: 'the feed exceeds the entry limit' });
  return skipped;
}

const hashEntry = ({ id, link, title, published, updated, content, summary }: FeedEntry): string =>
  sha256(JSON.stringify([id, link, title, published, updated, content, summary]));

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
