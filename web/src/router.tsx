import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { coverageRoutes } from './routes/coverage.ts';
import { feedRoutes } from './routes/feed.ts';
import { hitRoutes } from './routes/hits.ts';
import { indicatorRoutes } from './routes/indicators.ts';
import { root, shell } from './routes/shell.ts';
import { signInRoute } from './routes/sign-in.ts';
import { sourceRoutes } from './routes/sources.ts';

/** Where the console opens. */
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/hits', replace: true });
  },
});

const routeTree = root.addChildren([
  signInRoute,
  shell.addChildren([home, ...hitRoutes, ...feedRoutes, ...coverageRoutes, ...indicatorRoutes, ...sourceRoutes]),
]);

export const createConsoleRouter = (client: QueryClient) =>
  createRouter({
    routeTree,
    context: { client },
    basepath: '/console',
    defaultPreload: 'intent',
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
