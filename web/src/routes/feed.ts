import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { EntityType } from '../api/entities.ts';
import type { FeedFilter, ItemStatus, LinkedFilter } from '../api/feed.ts';
import type { StoryFilter } from '../api/stories.ts';
import { severities } from '../ui/labels/severity.tsx';
import { compact, membersOf, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

/** `text=raw` shows the text of an item as it is stored. */
type TextForm = { text?: 'raw' | undefined };
type FeedSearch = FeedFilter & TextForm & { item?: string | undefined };

const textForm = (search: Search) => oneOf(search, 'text', ['raw']);

const statuses = membersOf<ItemStatus>({ active: true, corrected: true, retracted: true });
/** Filters that links set, and that the page has no field for. */
const linkedFilters = membersOf<LinkedFilter>({
  technique: true,
  indicator: true,
  actor: true,
  malware: true,
  tool: true,
  cve: true,
  rule: true,
});

const list = createRoute({
  getParentRoute: () => shell,
  path: '/feed',
  validateSearch: (search: Search): FeedSearch =>
    compact({
      q: textOf(search, 'q'),
      searchOrder: oneOf(search, 'searchOrder', ['newest']),
      severity: oneOf(search, 'severity', severities),
      status: oneOf(search, 'status', statuses),
      platform: textOf(search, 'platform'),
      source: textOf(search, 'source'),
      relevancyMode: oneOf(search, 'relevancyMode', ['relevant']),
      requirement: textOf(search, 'requirement'),
      ...Object.fromEntries(linkedFilters.map((name) => [name, textOf(search, name)])),
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

/** `story` is an item of the open story. */
type StoriesSearch = StoryFilter & { story?: string | undefined };

const stories = createRoute({
  getParentRoute: () => shell,
  path: '/stories',
  validateSearch: (search: Search): StoriesSearch =>
    compact({
      q: textOf(search, 'q'),
      severity: oneOf(search, 'severity', severities),
      story: textOf(search, 'story'),
    }),
  component: lazyRouteComponent(() => import('../pages/stories/stories-page.tsx'), 'StoriesPage'),
});

const digest = createRoute({
  getParentRoute: () => shell,
  path: '/digest',
  validateSearch: (search: Search): { week?: string | undefined } => compact({ week: textOf(search, 'week') }),
  component: lazyRouteComponent(() => import('../pages/digest/digest-page.tsx'), 'DigestPage'),
});

const entityTypes = membersOf<EntityType>({ actor: true, malware: true, tool: true, vulnerability: true });

/** `type` and `q` filter the list. `kind` and `name` are the open entity. */
type EntitiesSearch = {
  type?: EntityType | undefined;
  q?: string | undefined;
  kind?: EntityType | undefined;
  name?: string | undefined;
};

const entities = createRoute({
  getParentRoute: () => shell,
  path: '/entities',
  validateSearch: (search: Search): EntitiesSearch =>
    compact({
      type: oneOf(search, 'type', entityTypes),
      q: textOf(search, 'q')?.slice(0, 200),
      kind: oneOf(search, 'kind', entityTypes),
      name: textOf(search, 'name'),
    }),
  component: lazyRouteComponent(() => import('../pages/entities/entities-page.tsx'), 'EntitiesPage'),
});

/** `values` are the pasted ones, separated by spaces. `value` is the open one. */
type IndicatorsSearch = { values?: string | undefined; value?: string | undefined };

const indicators = createRoute({
  getParentRoute: () => shell,
  path: '/indicators',
  validateSearch: (search: Search): IndicatorsSearch =>
    compact({ values: textOf(search, 'values'), value: textOf(search, 'value') }),
  component: lazyRouteComponent(() => import('../pages/indicators/indicators-page.tsx'), 'IndicatorsPage'),
});

/** `source` is the open one: its ID, or `new`. With `edit`, its settings are open. */
type SourcesSearch = { source?: string | undefined; edit?: 'yes' | undefined };

const sources = createRoute({
  getParentRoute: () => shell,
  path: '/sources',
  validateSearch: (search: Search): SourcesSearch =>
    compact({ source: textOf(search, 'source'), edit: oneOf(search, 'edit', ['yes']) }),
  component: lazyRouteComponent(() => import('../pages/sources/sources-page.tsx'), 'SourcesPage'),
});

export const feedRoutes = [list, one, stories, digest, entities, indicators, sources] as const;
