import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
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

const root = createRootRoute({ component: AppShell });

const hits = createRoute({
  getParentRoute: () => root,
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
  getParentRoute: () => root,
  path: '/hits/$id',
  component: lazyRouteComponent(() => import('./pages/hits/hit-page.tsx'), 'HitPage'),
});
const detections = createRoute({
  getParentRoute: () => root,
  path: '/detections',
  validateSearch: (search: Search): { detection?: string | undefined } =>
    compact({ detection: textOf(search, 'detection') }),
});
const plain = (['/', '/logs', '/feed', '/coverage', '/suggestions', '/settings'] as const).map((path) =>
  createRoute({ getParentRoute: () => root, path }),
);

export const router = createRouter({
  routeTree: root.addChildren([hits, hit, detections, ...plain]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
