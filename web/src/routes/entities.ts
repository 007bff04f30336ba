import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { EntityType } from '../api/entities.ts';
import { texts } from '../texts/entities.ts';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const types = Object.keys(texts.types) as EntityType[];

/** `type` and `q` filter the list. `kind` and `name` are the open entity. */
type EntitiesSearch = {
  type?: EntityType | undefined;
  q?: string | undefined;
  kind?: EntityType | undefined;
  name?: string | undefined;
};

const page = createRoute({
  getParentRoute: () => shell,
  path: '/entities',
  validateSearch: (search: Search): EntitiesSearch =>
    compact({
      type: oneOf(search, 'type', types),
      q: textOf(search, 'q')?.slice(0, 200),
      kind: oneOf(search, 'kind', types),
      name: textOf(search, 'name'),
    }),
  component: lazyRouteComponent(() => import('../pages/entities/entities-page.tsx'), 'EntitiesPage'),
});

export const entityRoutes = [page] as const;
