import type { QueryClient } from '@tanstack/react-query';
import { createRouter, type ParsedLocation } from '@tanstack/react-router';
import { basePath } from './lib/base-path.ts';
import { coverageRoutes } from './routes/coverage.ts';
import { feedRoutes } from './routes/feed.ts';
import { detectionRoutes } from './routes/detections.ts';
import { hitRoutes } from './routes/hits.ts';
import { logRoutes } from './routes/logs.ts';
import { settingsRoutes } from './routes/settings.ts';
import { suggestionRoutes } from './routes/suggestions.ts';
import { parseSearch, stringifySearch } from './routes/search.ts';
import { overviewRoutes, root, shell, signInRoute } from './routes/shell.ts';

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

/**
 * Returns a function that decides whether the places of a location's lists are restored: those of a location that was shown before, and of
 * the same page with another address. The router would also give a new page the scroll position of the page before it.
 * A navigation that opens an entry of a list has `resetScroll: false`. Otherwise the router would undo the list's scrolling to the entry.
 */
function createScrollMemory(): (options: { location: ParsedLocation }) => boolean {
  const shown = new Set<string | undefined>();
  let lastPath: string | undefined;
  return ({ location: { pathname, state } }) => {
    const isKnown = lastPath === undefined || pathname === lastPath || shown.has(state.__TSR_key);
    shown.add(state.__TSR_key);
    lastPath = pathname;
    return isKnown;
  };
}
