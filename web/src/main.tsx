import './styles/base.css';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProblem, isSignedOut } from './api/problem.ts';
import { sessionQuery, signInMeta } from './api/session.ts';
import { applyTheme } from './lib/theme.ts';
import { createConsoleRouter } from './router.tsx';
import { EndedSession, endedSession } from './shell/ended-session.tsx';
import { forgetDrafts } from './ui/forms/use-draft.tsx';
import { pollOf } from './ui/live.tsx';
import { Conflicts } from './ui/overlays/conflicts.tsx';
import { Toasts } from './ui/overlays/toasts.tsx';

const isWorthRetrying = (error: Error): boolean =>
  error instanceof ApiProblem && (error.status === 0 || error.status === 429 || error.status >= 502);

const client = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== sessionQuery.queryKey[0]) endedSession.report(false);
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _input, _result, { meta }) => {
      if (isSignedOut(error) && meta !== signInMeta) endedSession.report(true);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchInterval: pollOf,
      retry: (failures, error) => failures < 2 && isWorthRetrying(error),
    },
  },
});

const router = createConsoleRouter(client);

applyTheme();
forgetDrafts();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
      <Conflicts />
      <Toasts />
      <EndedSession />
    </QueryClientProvider>
  </StrictMode>,
);
