import { decodeHTML } from 'entities';
import { Parser } from 'htmlparser2';
import { ExternalError } from '../../../platform/lib/external-error.ts';

/** An element whose prefix is normalized by namespace. `children` contains text and elements in order. */
export type XmlElement = {
  name: string;
  attributes: Record<string, string>;
  children: (XmlElement | string)[];
  /** `xml:base` and `xml:lang`, inherited. */
  base: string | undefined;
  language: string | undefined;
};

const depthMax = 200;
/** The maximum in an element that is kept. */
const elementsMax = 200_000;
const chunkChars = 1_000_000;

const prefixes: [RegExp, string][] = [
  [
    /^http:\/\/(?:www\.w3\.org\/2005\/Atom|purl\.org\/atom\/ns#|example\.com\/newformat#|purl\.org\/atom-blog\/ns#)$/i,
    'atom',
  ],
  [
    /^http:\/\/(?:purl\.org\/rss\/1\.0\/(?!modules\/)|purl\.org\/net\/rss1\.1#|my\.netscape\.com\/(?:rdf\/simple|publish\/formats)|channel\.netscape\.com\/rdf\/simple|backend\.userland\.com\/rss|blogs\.law\.harvard\.edu\/tech\/rss|my\.netscape\.com\/publish)(?![a-z]*\/modules)\S{0,20}$/i,
    '',
  ],
  [/^http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#$/i, 'rdf'],
  [/^http:\/\/purl\.org\/dc\/elements\/1\.[01]\/?$/i, 'dc'],
  [/^http:\/\/purl\.org\/dc\/terms\/?$/i, 'dcterms'],
  [/^http:\/\/purl\.org\/rss\/1\.0\/modules\/content\/$/i, 'content'],
  [/^http:\/\/www\.itunes\.com\/dtds\/podcast-1\.0\.dtd$/i, 'itunes'],
  [/^https?:\/\/search\.yahoo\.com\/mrss\/?$/i, 'media'],
  [/^http:\/\/www\.w3\.org\/1999\/xhtml$/i, 'xhtml'],
];
const findPrefix = (uri: string, declared: string): string =>
  uri === '' ? declared : (prefixes.find(([pattern]) => pattern.test(uri))?.[1] ?? `other-${declared}`);

/** `onElement` receives the name of each element that is not kept. */
type XmlHandlers = {
  isKept: (name: string) => boolean;
  onKept: (element: XmlElement) => void;
  onElement: (name: string) => void;
};

/**
 * Reads XML of feeds, well formed or not. Passes on each element that is kept once it is closed, with its content, so that memory holds one at
 * a time. Unclosed elements are closed, HTML entities are decoded, and a DTD is ignored, so that its entities are never expanded. Throws an
 * Error beyond the limits of depth and of elements in one that is kept.
 */
export function scanXml(text: string, { isKept, onKept, onElement }: XmlHandlers): void {
  type Scope = { element: XmlElement; spaces: Namespaces };
  const top: XmlElement = { name: '', attributes: {}, children: [], base: undefined, language: undefined };
  const open: Scope[] = [{ element: top, spaces: Object.create(null) as Namespaces }];
  let kept: XmlElement | undefined;
  let elements = 0;
  const parser = new Parser(
    {
      onopentag(raw, attributes) {
        if (open.length > depthMax) throw new ExternalError(`the document is nested deeper than ${depthMax} elements`);
        const { element: parent, spaces: outer } = open.at(-1)!;
        const spaces = readNamespaces(attributes, outer);
        const element: XmlElement = {
          name: normalizeName(raw, spaces),
          attributes,
          children: [],
          base: resolveAddress(attributes['xml:base'], parent.base) ?? parent.base,
          language: attributes['xml:lang'] ?? parent.language,
        };
        open.push({ element, spaces });
        if (kept) {
          elements += 1;
          if (elements > elementsMax)
            throw new ExternalError(`an entry of the feed has more than ${elementsMax} elements`);
          parent.children.push(element);
        } else if (isKept(element.name)) [kept, elements] = [element, 0];
        else onElement(element.name);
      },
      ontext(data) {
        if (kept) open.at(-1)!.element.children.push(data);
      },
      onclosetag() {
        const closed = open.length > 1 ? open.pop()!.element : undefined;
        if (closed === undefined || closed !== kept) return;
        kept = undefined;
        onKept(closed);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  for (const chunk of splitText(text)) parser.write(withoutHtmlEntities(chunk));
  parser.end();
}

/** Splits a text into chunks, none of which ends within an HTML entity. */
function* splitText(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = start + chunkChars;
    const ampersand = end < text.length ? text.lastIndexOf('&', end) : -1;
    const cut = ampersand > end - entityMaxChars && ampersand > start ? ampersand : end;
    yield text.slice(start, cut);
    start = cut;
  }
}

/** Namespace addresses by prefix. The prototype contains the declarations of the enclosing elements. */
type Namespaces = Record<string, string>;

function readNamespaces(attributes: Record<string, string>, outer: Namespaces): Namespaces {
  let spaces = outer;
  for (const [name, uri] of Object.entries(attributes)) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    if (spaces === outer) spaces = Object.create(outer) as Namespaces;
    spaces[name.slice(6)] = uri;
  }
  return spaces;
}

function normalizeName(raw: string, spaces: Namespaces): string {
  const colon = raw.indexOf(':');
  const [declared, local] = colon < 0 ? ['', raw] : [raw.slice(0, colon), raw.slice(colon + 1)];
  const uri = spaces[declared] ?? '';
  const prefix = findPrefix(uri.trim(), declared.toLowerCase()).replace(/^other-$/, '');
  return prefix === '' ? local.toLowerCase() : `${prefix}:${local.toLowerCase()}`;
}

/** Resolves an address. Returns undefined for an empty one and an address that cannot be resolved unchanged. */
export function resolveAddress(address: string | undefined, base: string | undefined): string | undefined {
  const text = address?.trim();
  if (!text) return undefined;
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return text;
  return (base === undefined ? undefined : URL.parse(text, base)?.href) ?? text;
}

const entityMaxChars = 34;

/** Decodes HTML entities, which feeds use without declaring them, except the five of XML. */
const withoutHtmlEntities = (text: string): string =>
  text.replaceAll(/&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,31};/g, (name) => decodeHTML(name));

export const childElements = (parent: XmlElement): XmlElement[] =>
  parent.children.filter((child): child is XmlElement => typeof child !== 'string');

/** Returns the children with one of the names in document order. */
export const findChildren = (parent: XmlElement, ...names: string[]): XmlElement[] =>
  childElements(parent).filter(({ name }) => names.includes(name));

/** Returns the text of an element and its descendants. */
export function readElementText(element: XmlElement): string {
  const parts: string[] = [];
  const open: (XmlElement | string)[] = [element];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(next);
    else for (const child of next.children.toReversed()) open.push(child);
  }
  return parts.join('');
}

/** Returns the content of an element as HTML without namespace prefixes. */
export function renderContent(element: XmlElement): string {
  const parts: string[] = [];
  const open: (XmlElement | string | { closes: string })[] = element.children.toReversed();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(escapeAll(next));
    else if ('closes' in next) parts.push(`</${next.closes}>`);
    else {
      const name = next.name.slice(next.name.indexOf(':') + 1);
      const attributes = Object.entries(next.attributes).filter(([key]) => /^[a-z][a-z0-9-]*$/i.test(key));
      parts.push(`<${name}${attributes.map(([key, value]) => ` ${key}="${escapeAll(value)}"`).join('')}>`);
      open.push({ closes: name });
      for (const child of next.children.toReversed()) open.push(child);
    }
  }
  return parts.join('');
}

export const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const escapeAll = (text: string): string => escapeText(text).replaceAll('>', '&gt;').replaceAll('"', '&quot;');
