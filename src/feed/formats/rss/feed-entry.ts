import { asText } from '../../../platform/lib/json/json-values.ts';
import { parseFeedDate } from '../parse-date.ts';
import {
  childElements,
  escapeText,
  findChildren,
  renderContent,
  readElementText,
  resolveAddress,
  type XmlElement,
} from './read-xml.ts';
import { htmlToLine } from './html-text.ts';

/** An entry of a feed. Times are ISO text in UTC. `content` and `summary` are HTML. */
export type FeedEntry = Partial<
  Record<
    'id' | 'link' | 'title' | 'published' | 'updated' | 'created' | 'content' | 'summary' | 'language',
    string | undefined
  >
>;

const titleMaxChars = 5_000;

/** Reads an `item` of RSS or RDF or an `entry` of Atom. Equivalent names of several namespaces are accepted, plain names first. */
export function readFeedEntry(entry: XmlElement, documentUrl: string | undefined): FeedEntry {
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
