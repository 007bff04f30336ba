import { createHash } from 'node:crypto';
import { isObject, asText, asObject, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from '../decode-document.ts';
import {
  scanXml,
  resolveAddress,
  escapeText,
  childElements,
  findChildren,
  renderContent,
  readElementText,
  type XmlElement,
} from './read-xml.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { parseFeedDate } from '../parse-date.ts';
import { toStorableText } from '../../../platform/lib/text/storable-text.ts';
import type { SkippedEntry } from '../../model/source-record.ts';
import type { DigestInput } from '../fetch-session.ts';
import { htmlToLine } from './html-text.ts';

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

/** An entry of a feed. Times are ISO text in UTC. `content` and `summary` are HTML. */
export type FeedEntry = Partial<
  Record<
    'id' | 'link' | 'title' | 'published' | 'updated' | 'created' | 'content' | 'summary' | 'language',
    string | undefined
  >
>;

const titleMaxChars = 5_000;

/** Reads an `item` of RSS or RDF or an `entry` of Atom. Equivalent names of several namespaces are accepted, plain names first. */
function readFeedEntry(entry: XmlElement, documentUrl: string | undefined): FeedEntry {
  const first = (...names: string[]): XmlElement | undefined => {
    for (const name of names) {
      const found = findChildren(entry, name, `atom:${name}`, `other-:${name}`).find(
        (child) => readElementText(child).trim() !== '' || childElements(child).length > 0,
      );
      if (found) return found;
    }
    return undefined;
  };
  const base = entry.base ?? documentUrl;
  const toAbsolute = (address: string | undefined, element: XmlElement = entry): string | undefined =>
    resolveAddress(asText(address), resolveAddress(element.base, documentUrl) ?? base);
  const guid = first('guid', 'id');
  const about = entry.attributes['rdf:about'];
  const id =
    toAbsolute(guid?.name === 'guid' ? undefined : guid && readElementText(guid), guid) ??
    (guid && asText(readElementText(guid))?.trim()) ??
    asText(about);
  const title = first('title', 'dc:title', 'media:title');
  const content = first('content:encoded', 'content', 'xhtml:body', 'body', 'fullitem');
  const summary = first(
    'description',
    'summary',
    'dc:description',
    'media:description',
    'itunes:summary',
    'itunes:subtitle',
  );
  return {
    id,
    link: findLink(entry, toAbsolute) ?? readGuidLink(guid) ?? toAbsolute(about),
    title: title && asText(readTitle(title))?.replaceAll(/\s+/g, ' ').trim(),
    published: findDate(entry, 'pubdate', 'issued', 'published', 'dcterms:issued'),
    updated: findDate(entry, 'dc:date', 'modified', 'updated', 'dcterms:modified', 'date', 'lastbuilddate'),
    created: findDate(entry, 'created', 'dcterms:created'),
    content: content && asText(readMarkup(content)),
    summary: summary && asText(readMarkup(summary)),
    language: asText(entry.language ?? findChildren(entry, 'dc:language', 'language').map(readElementText)[0]),
  };
}

/** Returns the last of several dates, which is the valid one in feeds that repeat an element. */
function findDate(entry: XmlElement, ...names: string[]): string | undefined {
  const wanted = names.flatMap((name) => [name, `atom:${name}`]);
  return findChildren(entry, ...wanted)
    .flatMap((one) => parseFeedDate(readElementText(one)) ?? [])
    .at(-1);
}

/** Prefers a bare link, then an alternate link to a page, then any alternate link, then an attached PDF. */
function findLink(
  entry: XmlElement,
  toAbsolute: (address: string | undefined, element: XmlElement) => string | undefined,
): string | undefined {
  const links = findChildren(entry, 'link', 'atom:link', 'rdf:link').map((one) => ({
    rel: (one.attributes['rel'] ?? 'alternate').toLowerCase(),
    isPage: /html/i.test(one.attributes['type'] ?? 'html'),
    isBare: one.attributes['href'] === undefined && one.attributes['rel'] === undefined,
    address: toAbsolute(one.attributes['href'] ?? readElementText(one).trim(), one),
  }));
  const usable = links.filter(({ rel, address }) => rel === 'alternate' && address !== undefined);
  const best = usable.find(({ isBare }) => isBare) ?? usable.find(({ isPage }) => isPage) ?? usable[0];
  return best?.address ?? findAttachedPdf(entry, toAbsolute);
}

function findAttachedPdf(
  entry: XmlElement,
  toAbsolute: (address: string | undefined, element: XmlElement) => string | undefined,
): string | undefined {
  const attached = findChildren(entry, 'enclosure', 'link', 'atom:link').find(
    (one) => isTyped(one, /^application\/pdf$/i) && (one.name === 'enclosure' || one.attributes['rel'] === 'enclosure'),
  );
  return attached && toAbsolute(attached.attributes['url'] ?? attached.attributes['href'], attached);
}

/** A `guid` is an address unless `isPermaLink` is false. */
function readGuidLink(guid: XmlElement | undefined): string | undefined {
  if (guid?.name !== 'guid' || /^false$/i.test(guid.attributes['ispermalink'] ?? guid.attributes['isPermaLink'] ?? ''))
    return undefined;
  const address = readElementText(guid).trim();
  return /^https?:\/\//i.test(address) ? address : undefined;
}

const isTyped = (element: XmlElement, pattern: RegExp): boolean => pattern.test(element.attributes['type'] ?? '');

/** Returns a title as text. Atom states the type of its titles. Other titles are HTML if they look like it. */
function readTitle(title: XmlElement): string {
  const decoded = decodeElement(title)?.slice(0, titleMaxChars);
  if (decoded === undefined) return htmlToLine(renderContent(title).slice(0, titleMaxChars));
  const isAtom = title.name.startsWith('atom:');
  if (isTyped(title, /^text(?:\/plain)?$/i)) return decoded;
  if (isTyped(title, /html/i) || title.attributes['mode'] === 'escaped') return htmlToLine(decoded);
  const isPlain = isAtom && title.attributes['type'] === undefined && title.attributes['mode'] === undefined;
  return !isPlain && /<\/[a-z][a-z0-9]*\s*>|<(?:br|img|hr)\b|&(?:#\d+|#x[\da-f]+|[a-z]\w*);/i.test(decoded)
    ? htmlToLine(decoded)
    : decoded;
}

/** Returns content as HTML from any encoding in XML. */
function readMarkup(content: XmlElement): string {
  const decoded = decodeElement(content);
  if (decoded === undefined) return renderContent(content);
  const isPlain =
    isTyped(content, /^text(?:\/plain)?$/i) ||
    (content.name.startsWith('atom:') &&
      content.attributes['type'] === undefined &&
      content.attributes['mode'] === undefined);
  return isPlain ? escapeText(decoded) : decoded;
}

/** Returns the text of an element without children, decoded from base64 if necessary (Atom), or undefined for an element with children. */
function decodeElement(element: XmlElement): string | undefined {
  if (childElements(element).length > 0) return undefined;
  const text = readElementText(element);
  const isBase64 = element.attributes['mode'] === 'base64' || isTyped(element, /^application\/octet-stream$/i);
  return isBase64 ? Buffer.from(text, 'base64').toString('utf8') : text;
}
