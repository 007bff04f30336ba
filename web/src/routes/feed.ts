import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { FeedFilter, ItemStatus } from '../api/feed.ts';
import { texts } from '../texts/feed.ts';
import { severities } from '../ui/labels/severity.tsx';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

/** `text=raw` shows the text of an item as it is stored. */
type TextForm = { text?: 'raw' | undefined };
type FeedSearch = FeedFilter & TextForm & { item?: string | undefined };

const textForm = (search: Search) => oneOf(search, 'text', ['raw']);

const list = createRoute({
  getParentRoute: () => shell,
  path: '/feed',
  validateSearch: (search: Search): FeedSearch =>
    compact({
      q: textOf(search, 'q'),
      searchOrder: oneOf(search, 'searchOrder', ['newest']),
      severity: oneOf(search, 'severity', severities),
      status: oneOf(search, 'status', Object.keys(texts.status) as ItemStatus[]),
      platform: textOf(search, 'platform'),
      source: textOf(search, 'source'),
      relevancyMode: oneOf(search, 'relevancyMode', ['relevant']),
      requirement: textOf(search, 'requirement'),
      ...Object.fromEntries(Object.keys(texts.linkedFilters).map((name) => [name, textOf(search, name)])),
      item: textOf(search, 'item'),
      text: textForm(search),
    }),
  component: lazyRouteComponent(() => import('../pages/feed/feed-page.tsx'), 'FeedPage'),
});

const one = createRoute({
  getParentRoute: () => shell,
  path: '/feed/$id',
  validateSearch: (search: Search): TextForm => compact({ text: textForm(search) }),
  component: lazyRouteComponent(() => import('../pages/feed/item-page.tsx'), 'ItemPage'),
});

export const feedRoutes = [list, one] as const;
