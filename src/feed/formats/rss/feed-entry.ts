import { asText } from '../../../platform/lib/json/json-values.ts';
import { parseFeedDate } from './feed-dates.ts';
import { findChildren, childElements, renderContent, readElementText } from './xml-elements.ts';
import type { FeedEntry } from './read-feed.ts';
import { htmlToLine } from './html-text.ts';
import { resolveAddress, type XmlElement } from './read-xml.ts';

const titleMaxChars = 5_000;

/** An `item` of RSS or RDF, or an `entry` of Atom. Names in any namespace that means the same; a plain name comes before a borrowed one. */
export function readFeedEntry(entry: XmlElement, documentUrl: string | undefined): FeedEntry {
  const first = (...names: string[]): XmlElement | undefined => {
    for (const name of names) {
      const found = findChildren(entry, name, `atom:${name}`, `other-:${name}`).find(
        (one) => readElementText(one).trim() !== '' || childElements(one).length > 0,
      );
      if (found) return found;
    }
    return undefined;
  };
  const base = entry.base ?? documentUrl;
  const absolute = (address: string | undefined, of: XmlElement = entry): string | undefined =>
    resolveAddress(asText(address), resolveAddress(of.base, documentUrl) ?? base);
  const guid = first('guid', 'id');
  const about = entry.attributes['rdf:about'];
  const id =
    absolute(guid?.name === 'guid' ? undefined : guid && readElementText(guid), guid) ??
    (guid && asText(readElementText(guid))?.trim()) ??
    asText(about);
  const title = first('title', 'dc:title', 'media:title');
  const content = first('content:encoded', 'content', 'xhtml:body', 'body', 'fullitem');
  const summary = first('description', 'summary', 'dc:description', 'media:description');
  return {
    id,
    link: linkOf(entry, absolute) ?? linkOfGuid(guid) ?? absolute(about),
    title: title && asText(titleText(title))?.replaceAll(/\s+/g, ' ').trim(),
    published: dateOf(entry, 'pubdate', 'issued', 'published', 'dcterms:issued'),
    updated: dateOf(entry, 'dc:date', 'modified', 'updated', 'dcterms:modified', 'date', 'lastbuilddate'),
    created: dateOf(entry, 'created', 'dcterms:created'),
    content: content && asText(markup(content)),
    summary: summary && asText(markup(summary)),
    language: asText(entry.language ?? findChildren(entry, 'dc:language', 'language').map(readElementText)[0]),
  };
}

/** The last of several: that is the one that counts where a feed repeats itself. */
function dateOf(entry: XmlElement, ...names: string[]): string | undefined {
  const wanted = names.flatMap((name) => [name, `atom:${name}`]);
  return findChildren(entry, ...wanted)
    .flatMap((one) => parseFeedDate(readElementText(one)) ?? [])
    .at(-1);
}

/** The alternate that is a page, then any alternate, then a bare link. */
function linkOf(
  entry: XmlElement,
  absolute: (address: string | undefined, of: XmlElement) => string | undefined,
): string | undefined {
  const links = findChildren(entry, 'link', 'atom:link', 'rdf:link').map((one) => ({
    rel: (one.attributes['rel'] ?? 'alternate').toLowerCase(),
    isPage: /html/i.test(one.attributes['type'] ?? 'html'),
    isBare: one.attributes['href'] === undefined && one.attributes['rel'] === undefined,
    address: absolute(one.attributes['href'] ?? readElementText(one).trim(), one),
  }));
  const usable = links.filter(({ rel, address }) => rel === 'alternate' && address !== undefined);
  const best = usable.find(({ isBare }) => isBare) ?? usable.find(({ isPage }) => isPage) ?? usable[0];
  return best?.address;
}

/** A guid is an address unless it says otherwise. */
function linkOfGuid(guid: XmlElement | undefined): string | undefined {
  if (guid?.name !== 'guid' || /^false$/i.test(guid.attributes['ispermalink'] ?? guid.attributes['isPermaLink'] ?? ''))
    return undefined;
  const address = readElementText(guid).trim();
  return /^https?:\/\//i.test(address) ? address : undefined;
}

const isTyped = (element: XmlElement, pattern: RegExp): boolean => pattern.test(element.attributes['type'] ?? '');

/** A title as text: Atom says what its titles are; of others those are HTML that look like it. */
function titleText(title: XmlElement): string {
  const decoded = unpacked(title)?.slice(0, titleMaxChars);
  if (decoded === undefined) return htmlToLine(renderContent(title).slice(0, titleMaxChars));
  const isAtom = title.name.startsWith('atom:');
  if (isTyped(title, /^text(?:\/plain)?$/i)) return decoded;
  if (isTyped(title, /html/i) || title.attributes['mode'] === 'escaped') return htmlToLine(decoded);
  const isPlain = isAtom && title.attributes['type'] === undefined && title.attributes['mode'] === undefined;
  return !isPlain && /<\/[a-z][a-z0-9]*\s*>|<(?:br|img|hr)\b|&(?:#\d+|#x[\da-f]+|[a-z]\w*);/i.test(decoded)
    ? htmlToLine(decoded)
    : decoded;
}

/** Content as HTML, whatever way it was put into the XML. */
function markup(content: XmlElement): string {
  const decoded = unpacked(content);
  if (decoded === undefined) return renderContent(content);
  const isPlain =
    isTyped(content, /^text(?:\/plain)?$/i) ||
    (content.name.startsWith('atom:') &&
      content.attributes['type'] === undefined &&
      content.attributes['mode'] === undefined);
  return isPlain ? decoded.replaceAll('&', '&amp;').replaceAll('<', '&lt;') : decoded;
}

/** The text of an element that holds no other, out of its base64 where it is in one (Atom); undefined where it holds elements. */
function unpacked(element: XmlElement): string | undefined {
  if (childElements(element).length > 0) return undefined;
  const text = readElementText(element);
  const isBase64 = element.attributes['mode'] === 'base64' || isTyped(element, /^application\/octet-stream$/i);
  return isBase64 ? Buffer.from(text, 'base64').toString('utf8') : text;
}
