import { decodeHTML } from 'entities';
import { Parser } from 'htmlparser2';

/** An element with the prefix that its namespace has here, whatever the document calls it. Text and elements in their order. */
export type XmlElement = {
  name: string;
  attributes: Record<string, string>;
  children: (XmlElement | string)[];
  /** `xml:base` and `xml:lang`, inherited. */
  base: string | undefined;
  language: string | undefined;
};

const depthMax = 200;
const elementsMax = 200_000;

const prefixes: [RegExp, string][] = [
  [
    /^http:\/\/(?:www\.w3\.org\/2005\/Atom|purl\.org\/atom\/ns#|example\.com\/newformat#|purl\.org\/atom-blog\/ns#)$/i,
    'atom',
  ],
  [
    /^http:\/\/(?:purl\.org\/rss\/1\.0\/|purl\.org\/net\/rss1\.1#|my\.netscape\.com\/(?:rdf\/simple|publish\/formats)|channel\.netscape\.com\/rdf\/simple|backend\.userland\.com\/rss|blogs\.law\.harvard\.edu\/tech\/rss|my\.netscape\.com\/publish)(?![a-z]*\/modules)\S{0,20}$/i,
    '',
  ],
  [/^http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#$/i, 'rdf'],
  [/^http:\/\/purl\.org\/dc\/elements\/1\.[01]\/?$/i, 'dc'],
  [/^http:\/\/purl\.org\/dc\/terms\/?$/i, 'dcterms'],
  [/^http:\/\/purl\.org\/rss\/1\.0\/modules\/content\/$/i, 'content'],
  [/^https?:\/\/search\.yahoo\.com\/mrss\/?$/i, 'media'],
  [/^http:\/\/www\.w3\.org\/1999\/xhtml$/i, 'xhtml'],
];
const prefixOf = (uri: string, given: string): string =>
  uri === '' ? given : (prefixes.find(([pattern]) => pattern.test(uri))?.[1] ?? `other-${given}`);

/**
 * Reads XML as feeds have it, well formed or not: what was never closed is closed, entities are HTML's, a DTD is passed over and its
 * entities are never expanded. Bounded in depth and number of elements; throws an Error beyond. Answers a nameless element around everything.
 */
export function readXml(text: string): XmlElement {
  type Scope = { element: XmlElement; spaces: Spaces };
  const top: XmlElement = { name: '', attributes: {}, children: [], base: undefined, language: undefined };
  const open: Scope[] = [{ element: top, spaces: Object.create(null) as Spaces }];
  let elements = 0;
  const parser = new Parser(
    {
      onopentag(raw, attributes) {
        elements += 1;
        if (open.length > depthMax) throw new Error(`the document is nested deeper than ${depthMax} elements`);
        if (elements > elementsMax) throw new Error(`the document has more than ${elementsMax} elements`);
        const { element: parent, spaces: outer } = open.at(-1)!;
        const spaces = spacesOf(attributes, outer);
        const element: XmlElement = {
          name: nameOf(raw, spaces),
          attributes,
          children: [],
          base: resolveAddress(attributes['xml:base'], parent.base) ?? parent.base,
          language: attributes['xml:lang'] ?? parent.language,
        };
        parent.children.push(element);
        open.push({ element, spaces });
      },
      ontext(data) {
        open.at(-1)!.element.children.push(data);
      },
      onclosetag() {
        if (open.length > 1) open.pop();
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(withoutHtmlEntities(text));
  return top;
}

/** Addresses of namespaces by prefix; what an element does not declare is found in those around it. */
type Spaces = Record<string, string>;

function spacesOf(attributes: Record<string, string>, outer: Spaces): Spaces {
  let own = outer;
  for (const [name, uri] of Object.entries(attributes)) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    if (own === outer) own = Object.create(outer) as Spaces;
    own[name.slice(6)] = uri;
  }
  return own;
}

function nameOf(raw: string, spaces: Spaces): string {
  const colon = raw.indexOf(':');
  const [given, local] = colon < 0 ? ['', raw] : [raw.slice(0, colon), raw.slice(colon + 1)];
  const uri = spaces[given] ?? '';
  const prefix = prefixOf(uri.trim(), given.toLowerCase()).replace(/^other-$/, '');
  return prefix === '' ? local.toLowerCase() : `${prefix}:${local.toLowerCase()}`;
}

/** An address made absolute, or undefined for what is none. */
export function resolveAddress(address: string | undefined, base: string | undefined): string | undefined {
  const text = address?.trim();
  if (!text) return undefined;
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return text;
  return (base === undefined ? undefined : URL.parse(text, base)?.href) ?? text;
}

/** Feeds use HTML's names without declaring them; the five of XML stay as they are. */
const withoutHtmlEntities = (text: string): string =>
  text.replaceAll(/&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,31};/g, (name) => decodeHTML(name));
