import { createHash } from 'node:crypto';
import { toPublisherHost } from '../../model/publisher-host.ts';
import { extractItem, type ReferenceLists } from '../../extraction/extract-item.ts';
import { toStorableText } from '../../../platform/lib/text/bounded-text.ts';
import { toTextRecord } from '../../extraction/text/text-record.ts';
import type { SourceRecord, UnreadText } from '../../model/source-record.ts';
import { readArticle, type Article } from './article.ts';
import { toCanonicalUrl } from './canonical-url.ts';
import { htmlToText } from './html-text.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const textMaxChars = 1_000_000;
// A page whose main text is much shorter than the feed's text is a teaser or a paywall.
const pageShareMin = 0.5;

/** Returns whether only the beginning of the text of an entry was read. */
export const isCutText = ({ storedText }: SourceRecord): boolean => storedText.length >= textMaxChars;

/** Explains in `skipped` why the end of a text is missing. */
export const cutReason = `only the first ${textMaxChars} characters of its text were read`;

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
