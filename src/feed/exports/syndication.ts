import { Feed } from 'feed';
import type { FeedItem } from '../model/item.schema.ts';

/** The items as RSS 2.0 or JSON Feed 1: title, summary and the way to their source. A retracted one says so in its title. */
export function syndicate(items: FeedItem[], format: 'rss' | 'json'): string {
  const [newest] = items;
  const feed = new Feed({
    title: 'Threat feed',
    description: 'Items of the threat feed, newest first.',
    id: 'urn:tocsin:feed',
    link: 'urn:tocsin:feed',
    generator: 'Tocsin',
    // The time of making would make every answer another one.
    updated: new Date(newest?.lastUpdated ?? 0),
  });
  for (const item of items) {
    const { source, event, classification } = item;
    const terms = [
      event.severity,
      ...classification.platforms,
      ...classification.mappings.filter(({ framework }) => framework === 'cve').map(({ id }) => id),
    ];
    feed.addItem({
      title: plain(event.status === 'retracted' ? `[retracted] ${event.title}` : event.title),
      id: `urn:uuid:${item.id}`,
      guid: `urn:uuid:${item.id}`,
      link: source.url && /^https?:/i.test(source.url) ? source.url : `urn:uuid:${item.id}`,
      date: new Date(item.lastUpdated),
      published: new Date(source.publishTime ?? item.addedToFeedAt),
      ...(item.summary ? { description: plain(item.summary) } : {}),
      author: [{ name: plain(source.publisher) }],
      category: terms.map((name) => ({ name })),
    });
  }
  return format === 'rss' ? feed.rss2() : feed.json1();
}

/** Without what XML has no characters for. */
const plain = (text: string): string =>
  text.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, ' ').toWellFormed();
