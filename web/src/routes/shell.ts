import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect, lazyRouteComponent } from '@tanstack/react-router';
import { overviewQuery } from '../api/overview.ts';
import { isSignedOut } from '../api/problem.ts';
import { sessionQuery, singleSignOnQuery } from '../api/session.ts';
import { AppShell } from '../shell/app-shell.tsx';
import { NotFound, PageError } from '../shell/page-error.tsx';
import { signInProblems, type SignInProblem } from '../texts/sign-in.ts';
import { compact, oneOf, textOf, type Search } from './search.ts';

export const root = createRootRouteWithContext<{ client: QueryClient }>()({ notFoundComponent: NotFound });

/** Everything that needs a session. Without one, the sign-in page comes first and leads back. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: AppShell,
  errorComponent: PageError,
  beforeLoad: async ({ context: { client }, location }) => {
    try {
      await client.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      const isHome = location.pathname === '/';
      throw redirect({ to: '/sign-in', search: isHome ? {} : { next: `/console${location.href}` } });
    }
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  // Starts the request while the code of the overview is loaded.
  loader: ({ context: { client } }) => void client.prefetchQuery(overviewQuery),
  component: lazyRouteComponent(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
});

export const overviewRoutes = [overview] as const;

type SignInSearch = {
  /** The page to open afterwards. */
  next?: string | undefined;
  /** Why single sign-on failed, and the request that failed. */
  problem?: SignInProblem | undefined;
  request?: string | undefined;
};

export const signInRoute = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Search): SignInSearch => {
    const next = textOf(search, 'next');
    return compact({
      // Only addresses of the console: a link from elsewhere must not lead away after signing in.
      next: next?.startsWith('/console/') ? next : undefined,
      problem: oneOf(search, 'problem', signInProblems),
      request: textOf(search, 'request'),
    });
  },
  loader: ({ context: { client } }) => client.ensureQueryData(singleSignOnQuery),
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});
