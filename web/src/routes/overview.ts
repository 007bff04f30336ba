import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { overviewQuery } from '../api/overview.ts';
import { shell } from './shell.ts';

const page = createRoute({
  getParentRoute: () => shell,
  path: '/',
  // Starts the request while the code of the page is loaded.
  loader: ({ context: { client } }) => void client.prefetchQuery(overviewQuery),
  component: lazyRouteComponent(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
});

export const overviewRoutes = [page] as const;
