import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

type SuggestionsSearch = { view?: 'dismissed' | undefined; suggestion?: string | undefined };

const list = createRoute({
  getParentRoute: () => shell,
  path: '/suggestions',
  validateSearch: (search: Search): SuggestionsSearch =>
    compact({ view: oneOf(search, 'view', ['dismissed']), suggestion: textOf(search, 'suggestion') }),
  component: lazyRouteComponent(() => import('../pages/suggestions/suggestions-page.tsx'), 'SuggestionsPage'),
});

export const suggestionRoutes = [list] as const;
