import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

type CoverageSearch = {
  q?: string | undefined;
  show?: 'threatened' | 'unwatched' | 'covered' | 'silent' | undefined;
  days?: '30' | '365' | undefined;
  view?: 'table' | undefined;
  technique?: string | undefined;
};

const page = createRoute({
  getParentRoute: () => shell,
  path: '/coverage',
  validateSearch: (search: Search): CoverageSearch =>
    compact({
      q: textOf(search, 'q'),
      show: oneOf(search, 'show', ['threatened', 'unwatched', 'covered', 'silent']),
      days: oneOf({ days: textOf(search, 'days') }, 'days', ['30', '365']),
      view: oneOf(search, 'view', ['table']),
      technique: textOf(search, 'technique'),
    }),
  component: lazyRouteComponent(() => import('../pages/attack-coverage/coverage-page.tsx'), 'CoveragePage'),
});

export const coverageRoutes = [page] as const;
