import { isObject, asText } from '../../../platform/lib/json/json-values.ts';
import { decodeDocument } from './decode-document.ts';
import { childElements } from './xml-elements.ts';
import { readJsonFeed } from './json-feed.ts';
import { readFeedEntry } from './feed-entry.ts';
import { readXml, type XmlElement } from './read-xml.ts';

/** An entry of a feed as the feed has it. Times are ISO text in UTC; `content` and `summary` are HTML. */
export type FeedEntry = {
  id?: string | undefined;
  link?: string | undefined;
  title?: string | undefined;
  published?: string | undefined;
  updated?: string | undefined;
  created?: string | undefined;
  content?: string | undefined;
  summary?: string | undefined;
  language?: string | undefined;
};

/** `left`: entries beyond the number that is read. */
export type Feed = { entries: FeedEntry[]; left: number };

const entriesMax = 2_000;
const bytesMax = 16 * 1024 * 1024;

/**
 * Reads RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed, well formed or not, in any encoding. `url` is where the document was
 * fetched: relative addresses are resolved against it. Throws an Error that says why the document is no feed.
 */
export function readFeed(document: {
  bytes: Buffer;
  contentType?: string | undefined;
  url?: string | undefined;
}): Feed {
  if (document.bytes.length > bytesMax) throw new Error(`the feed is larger than ${bytesMax} bytes`);
  const text = decodeDocument(document.bytes, document.contentType).replace(/^\uFEFF/, '');
  return /^\s*\{/.test(text) ? entriesOfJson(text) : entriesOfXml(text, document.url);
}

function entriesOfJson(text: string): Feed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('the document is not valid JSON', { cause: error });
  }
  if (!isObject(value) || !Array.isArray(value['items']) || !(asText(value['version']) ?? asText(value['title'])))
    throw new Error('the document is no JSON Feed');
  const items = value['items'] as unknown[];
  return { entries: readJsonFeed(value, items.slice(0, entriesMax)), left: leftOf(items) };
}

function entriesOfXml(text: string, url: string | undefined): Feed {
  const found: XmlElement[] = [];
  let isFeed = false;
  // Wherever entries stand: what feeds wrap around them differs, and broken ones close too early.
  const open: XmlElement[] = [readXml(text)];
  for (let next = open.pop(); next; next = open.pop()) {
    if (isEntry(next.name)) found.push(next);
    else {
      isFeed ||= isRoot(next.name);
      for (const child of childElements(next).toReversed()) open.push(child);
    }
  }
  if (!isFeed) throw new Error('the document is no RSS, RDF, Atom or JSON feed');
  return { entries: found.slice(0, entriesMax).map((element) => readFeedEntry(element, url)), left: leftOf(found) };
}

const leftOf = (found: unknown[]): number => Math.max(0, found.length - entriesMax);

const bare = (name: string): string => name.slice(name.indexOf(':') + 1);
const isRoot = (name: string): boolean =>
  ['rss', 'rdf:rdf', 'feed', 'atom:feed', 'channel', 'rdf'].includes(name) ||
  bare(name) === 'feed' ||
  bare(name) === 'rss';
const isEntry = (name: string): boolean =>
  ['item', 'entry', 'atom:entry'].includes(name) ||
  (name.startsWith('other-') && ['item', 'entry'].includes(bare(name)));
