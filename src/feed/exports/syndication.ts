import { Feed } from 'feed';
import type { FeedItem } from '../model/item.schema.ts';

/** Renders items as RSS 2.0 or JSON Feed 1, with title, summary and link. The title of a retracted item begins with `[retracted]`. */
export function renderSyndication(items: FeedItem[], format: 'rss' | 'json'): string {
  const [newest] = items;
  const feed = new Feed({
    title: 'Threat feed',
    description: 'Items of the threat feed, newest first.',
    id: 'urn:tocsin:feed',
    link: 'urn:tocsin:feed',
    generator: 'Tocsin',
    // The current time would make every response different.
    updated: new Date(newest?.lastUpdated ?? 0),
  });
  for (const item of items) {
    const { source, event, classification } = item;
    const categories = [
      event.severity,
      ...classification.platforms,
      ...classification.mappings.filter(({ framework }) => framework === 'cve').map(({ id }) => id),
    ];
    feed.addItem({
      title: toXmlText(event.status === 'retracted' ? `[retracted] ${event.title}` : event.title),
      id: `urn:uuid:${item.id}`,
      guid: `urn:uuid:${item.id}`,
      link: source.url && /^https?:/i.test(source.url) ? source.url : `urn:uuid:${item.id}`,
      date: new Date(item.lastUpdated),
      published: new Date(source.publishTime ?? item.addedToFeedAt),
      ...(item.summary ? { description: toXmlText(item.summary) } : {}),
      author: [{ name: toXmlText(source.publisher) }],
      category: categories.map((name) => ({ name })),
    });
  }
  return format === 'rss' ? feed.rss2() : feed.json1();
}

/** Replaces characters that XML does not allow. */
const toXmlText = (text: string): string =>
  text.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, ' ').toWellFormed();
