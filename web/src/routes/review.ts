import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { CaseFilter, CaseState, ReviewCase } from '../api/review.ts';
import { texts } from '../texts/review.ts';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

type ReviewSearch = CaseFilter & { case?: string | undefined };

const list = createRoute({
  getParentRoute: () => shell,
  path: '/review',
  validateSearch: (search: Search): ReviewSearch =>
    compact({
      state: oneOf(search, 'state', Object.keys(texts.states) as CaseState[]),
      kind: oneOf(search, 'kind', Object.keys(texts.kinds) as ReviewCase['kind'][]),
      detection: textOf(search, 'detection'),
      entity: textOf(search, 'entity'),
      case: textOf(search, 'case'),
    }),
  component: lazyRouteComponent(() => import('../pages/review/review-page.tsx'), 'ReviewPage'),
});

/** The address of a case in events. */
const one = createRoute({
  getParentRoute: () => shell,
  path: '/review/$id',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/review', search: { case: params.id } });
  },
});

export const reviewRoutes = [list, one] as const;
