import { isObject, asText } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from './decode-document.ts';
import { childElements } from './xml-elements.ts';
import { readJsonFeed } from './json-feed.ts';
import { readFeedEntry, type FeedEntry } from './feed-entry.ts';
import { readXml, type XmlElement } from './read-xml.ts';

/** `omitted` is the number of entries beyond the limit. */
type Feed = { entries: FeedEntry[]; omitted: number };

const entriesMax = 2_000;
const bytesMax = 16 * 1024 * 1024;

/**
 * Reads RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed, well formed or not, in any encoding. Relative addresses are resolved
 * against `url`. Throws an Error with the reason if the document is not a feed.
 */
export function readFeed(document: {
  bytes: Buffer;
  contentType?: string | undefined;
  url?: string | undefined;
}): Feed {
  if (document.bytes.length > bytesMax) throw new Error(`the feed is larger than ${bytesMax} bytes`);
  const text = decodeDocument(document.bytes, document.contentType).replace(/^\uFEFF/, '');
  return /^\s*\{/.test(text) ? readJson(text) : readXmlFeed(text, document.url);
}

function readJson(text: string): Feed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('the document is not valid JSON', { cause: error });
  }
  if (!isObject(value) || !Array.isArray(value['items']) || !(asText(value['version']) ?? asText(value['title'])))
    throw new Error('the document is not a JSON Feed');
  const items = value['items'] as unknown[];
  return { entries: readJsonFeed(value, items.slice(0, entriesMax)), omitted: countOmitted(items) };
}

function readXmlFeed(text: string, url: string | undefined): Feed {
  const found: XmlElement[] = [];
  let isFeed = false;
  // Entries are found at any depth, because feeds wrap them differently and malformed feeds close elements early.
  const open: XmlElement[] = [readXml(text)];
  for (let next = open.pop(); next; next = open.pop()) {
    if (isEntry(next.name)) found.push(next);
    else {
      isFeed ||= isRoot(next.name);
      for (const child of childElements(next).toReversed()) open.push(child);
    }
  }
  if (!isFeed) throw new Error('the document is not an RSS, RDF, Atom or JSON feed');
  return {
    entries: found.slice(0, entriesMax).map((element) => readFeedEntry(element, url)),
    omitted: countOmitted(found),
  };
}

const countOmitted = (found: unknown[]): number => Math.max(0, found.length - entriesMax);

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
const isRoot = (name: string): boolean =>
  ['rss', 'rdf:rdf', 'feed', 'atom:feed', 'channel', 'rdf'].includes(name) ||
  localName(name) === 'feed' ||
  localName(name) === 'rss';
const isEntry = (name: string): boolean =>
  ['item', 'entry', 'atom:entry'].includes(name) ||
  (name.startsWith('other-') && ['item', 'entry'].includes(localName(name)));
