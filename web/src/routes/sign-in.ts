import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, textOf, type Search } from './search.ts';
import { root } from './shell.ts';

export const signInRoute = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  // Only addresses of the console: a link from elsewhere must not lead away after signing in.
  validateSearch: (search: Search): { next?: string | undefined } => {
    const next = textOf(search, 'next');
    return compact({ next: next?.startsWith('/console/') ? next : undefined });
  },
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});
