import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

/** `values` are the pasted ones, separated by spaces. `value` is the open one. */
type IndicatorsSearch = { values?: string | undefined; value?: string | undefined };

const page = createRoute({
  getParentRoute: () => shell,
  path: '/indicators',
  validateSearch: (search: Search): IndicatorsSearch =>
    compact({ values: textOf(search, 'values'), value: textOf(search, 'value') }),
  component: lazyRouteComponent(() => import('../pages/indicators/indicators-page.tsx'), 'IndicatorsPage'),
});

export const indicatorRoutes = [page] as const;
