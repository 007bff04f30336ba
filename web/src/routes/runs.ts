import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

export const runTabs = ['verdicts', 'steps', 'replay'] as const;

/** `entity` is the candidate whose investigation is open. */
type RunSearch = { tab?: (typeof runTabs)[number] | undefined; entity?: string | undefined };

const one = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$id',
  validateSearch: (search: Search): RunSearch =>
    compact({ tab: oneOf(search, 'tab', runTabs), entity: textOf(search, 'entity') }),
  component: lazyRouteComponent(() => import('../pages/runs/run-page.tsx'), 'RunPage'),
});

export const runRoutes = [one] as const;
