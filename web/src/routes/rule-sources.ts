import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

/** `source` is the open one: its ID, `new` for the packages, or `own` for an address. With `edit`, its settings are open. */
type RuleSourcesSearch = { source?: string | undefined; edit?: 'yes' | undefined };

const page = createRoute({
  getParentRoute: () => shell,
  path: '/rule-sources',
  validateSearch: (search: Search): RuleSourcesSearch =>
    compact({ source: textOf(search, 'source'), edit: oneOf(search, 'edit', ['yes']) }),
  component: lazyRouteComponent(
    () => import('../pages/detections/rule-sources/rule-sources-page.tsx'),
    'RuleSourcesPage',
  ),
});

export const ruleSourceRoutes = [page] as const;
