import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { isSignedOut } from '../api/problem.ts';
import { sessionQuery } from '../api/session.ts';
import { AppShell } from '../shell/app-shell.tsx';
import { NotFound, PageError } from '../shell/page-error.tsx';

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
