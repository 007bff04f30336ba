import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { isSignedOut } from './api/problem.ts';
import { sessionQuery } from './api/session.ts';
import type { HitFilter, HitStatus } from './api/hits.ts';
import { AppShell } from './shell/app-shell.tsx';
import { severities } from './ui/severity.tsx';
import { texts } from './texts/hits.ts';

type Search = Record<string, unknown>;
/** Returns a parameter of the address if it is one of these values. Anything else is ignored, so that an old link still opens. */
const oneOf = <Value extends string>(search: Search, name: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === search[name]);
const textOf = (search: Search, name: string): string | undefined =>
  typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined;
/** Leaves out what is undefined, so that addresses stay short. */
const compact = <Params extends object>(params: Params): Params =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as Params;

type Context = { client: QueryClient };

const root = createRootRouteWithContext<Context>()();

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  // Only addresses of the console: a link from elsewhere must not lead away after signing in.
  validateSearch: (search: Search): { next?: string | undefined } => {
    const next = textOf(search, 'next');
    return compact({ next: next?.startsWith('/console/') ? next : undefined });
  },
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** Everything that needs a session. Without one, the sign-in page comes first and leads back. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: AppShell,
  beforeLoad: async ({ context: { client }, location }) => {
    try {
      await client.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      const isHome = location.href === '/';
      throw redirect({ to: '/sign-in', search: isHome ? {} : { next: `/console${location.href}` } });
    }
  },
});

const hits = createRoute({
  getParentRoute: () => shell,
  path: '/hits',
  validateSearch: (search: Search): HitFilter & { hit?: string | undefined } =>
    compact({
      status: oneOf(search, 'status', Object.keys(texts.status) as HitStatus[]),
      severity: oneOf(search, 'severity', severities),
      detection: textOf(search, 'detection'),
      entity: textOf(search, 'entity'),
      hit: textOf(search, 'hit'),
    }) as HitFilter & { hit?: string },
  component: lazyRouteComponent(() => import('./pages/hits/hits-page.tsx'), 'HitsPage'),
});
const hit = createRoute({
  getParentRoute: () => shell,
  path: '/hits/$id',
  component: lazyRouteComponent(() => import('./pages/hits/hit-page.tsx'), 'HitPage'),
});
const detections = createRoute({
  getParentRoute: () => shell,
  path: '/detections',
  validateSearch: (search: Search): { detection?: string | undefined } =>
    compact({ detection: textOf(search, 'detection') }),
});
const plain = (['/', '/logs', '/feed', '/coverage', '/suggestions', '/settings'] as const).map((path) =>
  createRoute({ getParentRoute: () => shell, path }),
);

export const createConsoleRouter = (client: QueryClient) =>
  createRouter({
    routeTree: root.addChildren([signIn, shell.addChildren([hits, hit, detections, ...plain])]),
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
