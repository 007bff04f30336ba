import './styles/base.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api/problem.ts';
import { applyTheme } from './lib/theme.ts';
import { router } from './router.tsx';
import { Toasts } from './ui/toasts.tsx';

const isWorthRetrying = (error: Error): boolean =>
  error instanceof ApiProblem && (error.status === 0 || error.status === 429 || error.status >= 502);

const client = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 15_000, retry: (failures, error) => failures < 2 && isWorthRetrying(error) },
  },
});

applyTheme();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
);
