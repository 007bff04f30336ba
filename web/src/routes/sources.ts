import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

/** `source` is the open one: its ID, or `new`. With `edit`, its settings are open. */
type SourcesSearch = { source?: string | undefined; edit?: 'yes' | undefined };

const page = createRoute({
  getParentRoute: () => shell,
  path: '/sources',
  validateSearch: (search: Search): SourcesSearch =>
    compact({ source: textOf(search, 'source'), edit: oneOf(search, 'edit', ['yes']) }),
  component: lazyRouteComponent(() => import('../pages/sources/sources-page.tsx'), 'SourcesPage'),
});

export const sourceRoutes = [page] as const;
