import { asObject, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { parseFeedDate } from './feed-dates.ts';
import type { FeedEntry } from './feed-entry.ts';
import { resolveAddress } from './xml/read-xml.ts';
import { escapeText } from './xml/xml-elements.ts';

/** Returns items of a JSON Feed (https://jsonfeed.org/version/1.1) as entries. An item that is not an object becomes an empty entry. */
export function readJsonFeed(feed: JsonObject, items: unknown[], documentUrl: string | undefined): FeedEntry[] {
  const language = asText(feed['language']);
  return items.map(asObject).map((item) => {
    const plain = asText(item['content_text']);
    const id = item['id'];
    return {
      id: typeof id === 'number' ? String(id) : asText(id),
      link: resolveAddress(asText(item['url']) ?? asText(item['external_url']), documentUrl),
      title: asText(item['title']),
      published: parseFeedDate(asText(item['date_published'])),
      updated: parseFeedDate(asText(item['date_modified'])),
      content: asText(item['content_html']) ?? (plain && `<pre>${escapeText(plain)}</pre>`),
      summary: asText(item['summary']) && escapeText(asText(item['summary'])!),
      language: asText(item['language']) ?? language,
    };
  });
}
