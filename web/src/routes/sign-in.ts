import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { singleSignOnQuery } from '../api/session.ts';
import { signInProblems, type SignInProblem } from '../texts/sign-in.ts';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { root } from './shell.ts';

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
