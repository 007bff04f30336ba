import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, oneOf, type Search } from './search.ts';
import { shell } from './shell.ts';

export const runTabs = ['verdicts', 'steps', 'replay'] as const;

const one = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$id',
  validateSearch: (search: Search): { tab?: (typeof runTabs)[number] } =>
    compact({ tab: oneOf(search, 'tab', runTabs) }),
  component: lazyRouteComponent(() => import('../pages/runs/run-page.tsx'), 'RunPage'),
});

export const runRoutes = [one] as const;
