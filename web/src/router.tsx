import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { feedRoutes } from './routes/feed.ts';
import { hitRoutes } from './routes/hits.ts';
import { root, shell } from './routes/shell.ts';
import { signInRoute } from './routes/sign-in.ts';

/** Where the console opens. */
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/hits', replace: true });
  },
});

const routeTree = root.addChildren([signInRoute, shell.addChildren([home, ...hitRoutes, ...feedRoutes])]);

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
