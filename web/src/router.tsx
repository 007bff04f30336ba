import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { basePath } from './lib/base-path.ts';
import { createScrollMemory } from './lib/scroll-memory.ts';
import { agentRoutes } from './routes/agents.ts';
import { coverageRoutes } from './routes/coverage.ts';
import { digestRoutes } from './routes/digest.ts';
import { entityRoutes } from './routes/entities.ts';
import { feedRoutes } from './routes/feed.ts';
import { detectionRoutes } from './routes/detections.ts';
import { hitRoutes } from './routes/hits.ts';
import { incidentRoutes } from './routes/incidents.ts';
import { indicatorRoutes } from './routes/indicators.ts';
import { logRoutes } from './routes/logs.ts';
import { settingsRoutes } from './routes/settings.ts';
import { suggestionRoutes } from './routes/suggestions.ts';
import { overviewRoutes } from './routes/overview.ts';
import { reviewRoutes } from './routes/review.ts';
import { ruleSourceRoutes } from './routes/rule-sources.ts';
import { runRoutes } from './routes/runs.ts';
import { parseSearch, stringifySearch } from './routes/search.ts';
import { root, shell } from './routes/shell.ts';
import { signInRoute } from './routes/sign-in.ts';
import { sourceRoutes } from './routes/sources.ts';
import { storyRoutes } from './routes/stories.ts';

const routeTree = root.addChildren([
  signInRoute,
  shell.addChildren([
    ...overviewRoutes,
    ...hitRoutes,
    ...incidentRoutes,
    ...reviewRoutes,
    ...logRoutes,
    ...detectionRoutes,
    ...agentRoutes,
    ...ruleSourceRoutes,
    ...runRoutes,
    ...feedRoutes,
    ...storyRoutes,
    ...digestRoutes,
    ...entityRoutes,
    ...coverageRoutes,
    ...indicatorRoutes,
    ...sourceRoutes,
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
