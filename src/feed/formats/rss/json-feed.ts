import { isObject, textOf, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { feedDate } from './feed-dates.ts';
import type { FeedEntry } from './read-feed.ts';

/** These items as entries of a JSON Feed (https://jsonfeed.org/version/1.1). */
export function readJsonFeed(feed: JsonObject, items: unknown[]): FeedEntry[] {
  const language = textOf(feed['language']);
  return items.filter(isObject).map((item) => {
    const plain = textOf(item['content_text']);
    const id = item['id'];
    return {
      id: typeof id === 'number' ? String(id) : textOf(id),
      link: textOf(item['url']) ?? textOf(item['external_url']),
      title: textOf(item['title']),
      published: feedDate(textOf(item['date_published'])),
      updated: feedDate(textOf(item['date_modified'])),
      content: textOf(item['content_html']) ?? (plain && `<pre>${escaped(plain)}</pre>`),
      summary: textOf(item['summary']) && escaped(textOf(item['summary'])!),
      language: textOf(item['language']) ?? language,
    };
  });
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
