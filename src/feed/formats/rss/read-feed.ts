import { isObject, asText } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from './xml/decode-document.ts';
import { readJsonFeed } from './json-feed.ts';
import { readFeedEntry, type FeedEntry } from './feed-entry.ts';
import { scanXml } from './xml/read-xml.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

type FeedDocument = { bytes: Buffer; contentType?: string | undefined; url?: string | undefined };

const entriesMax = 100_000;

/**
 * Reads RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed, well formed or not, in any encoding. Relative addresses are resolved
 * against `url`. Passes on one entry after the other and returns the number of entries beyond the limit. Throws an Error with the reason if
 * the document is not a feed.
 */
export function scanFeed(document: FeedDocument, onEntry: (entry: FeedEntry) => void): { omitted: number } {
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
