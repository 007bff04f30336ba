import { Readability } from '@mozilla/readability';
import { Parser } from 'htmlparser2';
import { parseHTML } from 'linkedom';
import { parseFeedDate } from './feed-dates.ts';
import { decodeDocument } from './xml/decode-document.ts';
import { htmlToText } from './html-text.ts';
import { resolveAddress } from './xml/read-xml.ts';
import { isSameSite } from './canonical-url.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

export type ArticlePage = { bytes: Uint8Array; contentType: string | undefined; url: string };
/** The main text of a page. `canonical` is the page's own canonical address if it is on the same site. */
export type Article = {
  text: string;
  title?: string | undefined;
  canonical?: string | undefined;
  /** The publish time that the page declares, as ISO text. */
  publishTime?: string | undefined;
};

type ReadablePage = ConstructorParameters<typeof Readability>[0];

const elementsMax = 60_000;
const attributesMax = 600_000;
const elementAttributesMax = 1_000;
const depthMax = 400;

/** Extracts the main text of a page without navigation and advertising. Throws an Error if the document is not a page. */
export function readArticle({ bytes, contentType, url }: ArticlePage): Article {
  if (contentType && !/html|xml|text\/plain/i.test(contentType))
    throw new ExternalError(`${contentType.slice(0, 60)} is not a web page`);
  const source = decodeDocument(Buffer.from(bytes), contentType);
  if (/^text\/plain/i.test(contentType ?? '')) return { text: source };
  if (!/<\w/.test(source.slice(0, 100_000))) throw new ExternalError('the document is not a web page');
  checkSize(source);
  const { document } = parseHTML(/<html[\s>]/i.test(source) ? source : `<html><body>${source}</body></html>`);
  const link = document.querySelector('link[rel="canonical"]')?.getAttribute('href') ?? undefined;
  const canonical = resolveAddress(link, url);
  const read = new Readability(document as unknown as ReadablePage, { maxElemsToParse: elementsMax }).parse();
  return {
    text: htmlToText(read?.content ?? source),
    title: read?.title ?? undefined,
    publishTime: parseFeedDate(read?.publishedTime ?? undefined),
    canonical: canonical && isSameSite(url, canonical) ? canonical : undefined,
  };
}

/** Limits depth and attributes, because the extraction takes quadratic time in both. Browsers stop at a depth of 512. */
function checkSize(source: string): void {
  let [elements, depth, attributes, elementAttributes] = [0, 0, 0, 0];
  const parser = new Parser({
    onopentagname() {
      [elements, depth, elementAttributes] = [elements + 1, depth + 1, 0];
      if (elements > elementsMax) throw new ExternalError(`the page has more than ${elementsMax} elements`);
      if (depth > depthMax) throw new ExternalError(`the page is nested deeper than ${depthMax} elements`);
    },
    onattribute() {
      [attributes, elementAttributes] = [attributes + 1, elementAttributes + 1];
      if (attributes > attributesMax || elementAttributes > elementAttributesMax)
        throw new ExternalError('the page has too many attributes');
    },
    onclosetag() {
      depth -= 1;
    },
  });
  parser.end(source);
}
