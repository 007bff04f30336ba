import { Readability } from '@mozilla/readability';
import { Parser } from 'htmlparser2';
import { parseHTML } from 'linkedom';
import { decodeDocument } from './decode-document.ts';
import { htmlToText } from './html-text.ts';
import { resolveAddress } from './read-xml.ts';
import { isSameSite } from './canonical-url.ts';

export type ArticlePage = { bytes: Uint8Array; contentType: string | undefined; url: string };
/** The main text of a page; `canonical` is the address that the page gives itself, where it may. */
export type Article = { text: string; title?: string | undefined; canonical?: string | undefined };

type ReadablePage = ConstructorParameters<typeof Readability>[0];

const elementsMax = 60_000;
const attributesMax = 600_000;
const attributesOfOneMax = 1_000;
const depthMax = 400;

/** Takes the main text out of a page: navigation, menus and advertising go. Throws an Error for what is no page. */
export function readArticle({ bytes, contentType, url }: ArticlePage): Article {
  if (contentType && !/html|xml|text\/plain/i.test(contentType))
    throw new Error(`${contentType.slice(0, 60)} is no page`);
  const source = decodeDocument(Buffer.from(bytes), contentType);
  if (/^text\/plain/i.test(contentType ?? '')) return { text: source };
  if (!/<\w/.test(source.slice(0, 100_000))) throw new Error('the document is no page');
  refuseOutsized(source);
  const { document } = parseHTML(/<html[\s>]/i.test(source) ? source : `<html><body>${source}</body></html>`);
  const link = document.querySelector('link[rel="canonical"]')?.getAttribute('href') ?? undefined;
  const canonical = resolveAddress(link, url);
  const read = new Readability(document as unknown as ReadablePage, { maxElemsToParse: elementsMax }).parse();
  return {
    text: htmlToText(read?.content ?? source),
    title: read?.title ?? undefined,
    canonical: canonical && isSameSite(url, canonical) ? canonical : undefined,
  };
}

/** What follows takes quadratic time in the depth of a page and the number of an element's attributes; browsers stop at a depth of 512. */
function refuseOutsized(source: string): void {
  let [elements, depth, all, own] = [0, 0, 0, 0];
  const parser = new Parser({
    onopentagname() {
      [elements, depth, own] = [elements + 1, depth + 1, 0];
      if (elements > elementsMax) throw new Error(`the page has more than ${elementsMax} elements`);
      if (depth > depthMax) throw new Error(`the page is nested deeper than ${depthMax} elements`);
    },
    onattribute() {
      [all, own] = [all + 1, own + 1];
      if (all > attributesMax || own > attributesOfOneMax) throw new Error('the page has too many attributes');
    },
    onclosetag() {
      depth -= 1;
    },
  });
  parser.end(source);
}
