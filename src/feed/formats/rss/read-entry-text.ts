import { createHash } from 'node:crypto';
import { Readability } from '@mozilla/readability';
import { Parser } from 'htmlparser2';
import { parseHTML } from 'linkedom';
import { textMaxChars, toPublisherHost, type SourceRecord, type UnreadText } from '../../model/source-record.ts';
import { extractItem, type ReferenceLists } from '../../extraction/extract-item.ts';
import { toStorableText } from '../../../platform/lib/text/storable-text.ts';
import { toTextRecord } from '../../extraction/text/text-record.ts';
import { htmlToText } from './html-text.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { parseFeedDate } from '../parse-date.ts';
import { decodeDocument } from '../decode-document.ts';
import { resolveAddress } from './read-xml.ts';

// A page whose main text is much shorter than the feed's text is a teaser or a paywall.
const pageShareMin = 0.5;

/** Extracts the record of an entry from the text of its page or, if that is missing or too short, from the feed's text. */
export function readEntryText(entry: UnreadText, knowledge?: ReferenceLists): SourceRecord {
  const feedText = htmlToText(entry.html ?? '');
  const article = readPage(entry, feedText);
  const isPage = article !== undefined && article.text.length >= feedText.length * pageShareMin;
  const body = isPage ? article.text : feedText;
  const title = (entry.title ?? article?.title ?? '').trim();
  const text = toStorableText(body.startsWith(title) ? body : `${title}\n\n${body}`)
    .trim()
    .slice(0, textMaxChars)
    .toWellFormed();
  if (text === '') throw new ExternalError('neither the page nor the feed has a text');
  const { recordId, externalId, link, modifiedAt, language } = entry;
  const publishTime = entry.publishTime ?? article?.publishTime;
  const pageHost = toPublisherHost(entry.page?.url);
  const extracted = extractItem(
    {
      text,
      title: title || undefined,
      publishTime,
      sourceUrl: link,
      publisherHosts: pageHost ? [pageHost] : [],
    },
    knowledge,
  );
  const address = toCanonicalUrl(article?.canonical ?? link ?? '');
  return {
    ...toTextRecord(extracted, {
      recordId,
      canonicalKey: address ? `url:${address}` : `txt:${textHash(title, text)}`,
      externalId,
      url: link,
      textUrl: isPage ? entry.page?.url : undefined,
      publishTime,
      language: extracted.language ?? language?.toLowerCase().split(/[-_]/)[0],
    }),
    modifiedAt,
    isProse: true,
  };
}

/** Ignores a page that cannot be read if the feed has a text. */
function readPage({ page }: UnreadText, feedText: string): Article | undefined {
  if (!page) return undefined;
  try {
    return readArticle(page);
  } catch (error) {
    if (feedText === '') throw error;
    return undefined;
  }
}

function textHash(title: string, text: string): string {
  const normal = text.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return createHash('sha256')
    .update(JSON.stringify([title, normal]))
    .digest('hex');
}

type ArticlePage = { bytes: Uint8Array; contentType: string | undefined; url: string };
/** The main text of a page. `canonical` is the page's own canonical address if it is on the same site. */
type Article = {
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

const tracking =
  /^(?:utm_\w+|mtm_\w+|pk_\w+|at_\w+|mc_[ce]id|_hs\w+|hs_\w+|fbclid|gclid|gclsrc|dclid|msclkid|yclid|twclid|igshid|mkt_tok|trk\w*|ref|ref_src|ref_url|referrer|cmp|cmpid|icid|ncid|sr_share|spm|share|amp|outputtype|__twitter_impression|guccounter|s_cid|linkid|wt\.mc_id|ocid)$/i;
const wrapsMax = 3;
// Keys are indexed in the database.
const keyMaxChars = 1_500;

/**
 * Normalizes the address of an article: removes scheme, ports 80 and 443, `www.`, tracking parameters, fragment,
 * trailing slash, AMP and web archive. Returns undefined for anything but a web address and for a key that is too long.
 */
export function toCanonicalUrl(address: string): string | undefined {
  let url = URL.parse(address.trim());
  for (let wraps = 0; url && wraps < wrapsMax; wraps += 1) {
    const inner = innerAddress(url);
    if (inner === undefined) break;
    url = URL.parse(inner);
  }
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  const host = url.host.replace(/^(?:www\d?|amp|m)\.(?=.+\.)/, '').replace(/\.?(?::80|:443)?$/, '');
  const path = url.pathname
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?:\/amp|\.amp)(?:\/|\.html)?$/i, '')
    .replace(/\/(?:index\.(?:html?|php|aspx?)\/?)?$/i, '');
  const kept = [...url.searchParams]
    .filter(([name]) => !tracking.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const query = new URLSearchParams(kept).toString();
  const key = `${host}${path}${query === '' ? '' : `?${query}`}`;
  return key.length <= keyMaxChars ? key : undefined;
}

/** Returns the address inside a web archive or AMP cache address. */
function innerAddress({ hostname, pathname, search }: URL): string | undefined {
  const archived = /^\/web\/\d{4,14}(?:[a-z]{2}_)?\/(?:(https?):\/{1,2})?(.+)$/i;
  const match =
    hostname === 'web.archive.org'
      ? archived.exec(pathname)
      : hostname.endsWith('.cdn.ampproject.org')
        ? /^\/[a-z]\/()(?:s\/)?(.+)$/.exec(pathname)
        : /^(?:www\.)?google\.[a-z.]{2,6}$/.test(hostname)
          ? /^\/amp\/()(?:s\/)?(.+)$/.exec(pathname)
          : null;
  return match ? `${match[1] || 'https'}://${match[2]}${search}` : undefined;
}

/** Returns whether a page may declare this canonical address: one on the same site that is not its home page. */
export function isSameSite(page: string, canonical: string): boolean {
  const [from, to] = [URL.parse(page), URL.parse(canonical)];
  if (!from || !to || !/^https?:$/.test(to.protocol)) return false;
  const bare = (host: string): string => host.replace(/^(?:www\d?|amp|m)\./, '');
  const [a, b] = [bare(from.hostname), bare(to.hostname)];
  const isSite = a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
  return isSite && (to.pathname !== '/' || to.search !== '' || from.pathname === '/');
}
