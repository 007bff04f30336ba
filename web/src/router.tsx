import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { basePath } from './lib/base-path.ts';
import { createScrollMemory } from './lib/scroll-memory.ts';
import { coverageRoutes } from './routes/coverage.ts';
import { feedRoutes, storyRoutes, digestRoutes, entityRoutes, indicatorRoutes, sourceRoutes } from './routes/feed.ts';
import { detectionRoutes, agentRoutes, ruleSourceRoutes, runRoutes } from './routes/detections.ts';
import { hitRoutes, incidentRoutes, reviewRoutes } from './routes/hits.ts';
import { logRoutes } from './routes/logs.ts';
import { settingsRoutes } from './routes/settings.ts';
import { suggestionRoutes } from './routes/suggestions.ts';
import { parseSearch, stringifySearch } from './routes/search.ts';
import { root, shell, overviewRoutes, signInRoute } from './routes/shell.ts';

const routeTree = root.addChildren([
  signInRoute,
  shell.addChildren([
    ...overviewRoutes,
    ...hitRoutes,
    ...logRoutes,
    ...detectionRoutes,
    ...feedRoutes,
    ...coverageRoutes,
    ...suggestionRoutes,
    ...settingsRoutes,
  ]),
]);

export const createConsoleRouter = (client: QueryClient) =>
  createRouter({
    routeTree,
    context: { client },
    basepath: `${basePath}/console`,
    defaultPreload: 'intent',
    scrollRestoration: createScrollMemory(),
    parseSearch,
    stringifySearch,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
