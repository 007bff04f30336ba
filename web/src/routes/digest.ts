import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const page = createRoute({
  getParentRoute: () => shell,
  path: '/digest',
  validateSearch: (search: Search): { week?: string | undefined } => compact({ week: textOf(search, 'week') }),
  component: lazyRouteComponent(() => import('../pages/digest/digest-page.tsx'), 'DigestPage'),
});

export const digestRoutes = [page] as const;
