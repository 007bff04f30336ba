import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { EntityPath, HitFilter, HitStatus } from '../api/hits.ts';
import { texts } from '../texts/hits.ts';
import { severities } from '../ui/labels/severity.tsx';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

type HitsSearch = HitFilter & { hit?: string | undefined; by?: 'wave' | 'entity' | undefined };

const list = createRoute({
  getParentRoute: () => shell,
  path: '/hits',
  validateSearch: (search: Search): HitsSearch =>
    compact({
      status: oneOf(search, 'status', Object.keys(texts.status) as HitStatus[]),
      severity: oneOf(search, 'severity', severities),
      verdict: oneOf(search, 'verdict', ['undecided', 'raise', 'dismiss']),
      detection: textOf(search, 'detection'),
      entity: textOf(search, 'entity'),
      q: textOf(search, 'q'),
      group: textOf(search, 'group'),
      by: oneOf(search, 'by', ['wave', 'entity']),
      hit: textOf(search, 'hit'),
    }),
  component: lazyRouteComponent(() => import('../pages/hits/hits-page.tsx'), 'HitsPage'),
});

const one = createRoute({
  getParentRoute: () => shell,
  path: '/hits/$id',
  component: lazyRouteComponent(() => import('../pages/hits/hit-page.tsx'), 'HitPage'),
});

const entity = createRoute({
  getParentRoute: () => shell,
  path: '/hits/entity',
  validateSearch: (search: Search): EntityPath => ({
    type: oneOf(search, 'type', Object.keys(texts.profile.types) as EntityPath['type'][]) ?? 'entity',
    name: textOf(search, 'name') ?? '',
  }),
  component: lazyRouteComponent(() => import('../pages/hits/entity-page.tsx'), 'EntityPage'),
});

export const hitRoutes = [list, entity, one] as const;
