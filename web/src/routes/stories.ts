import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { StoryFilter } from '../api/stories.ts';
import { severities } from '../ui/labels/severity.tsx';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

/** `story` is an item of the open story. */
type StoriesSearch = StoryFilter & { story?: string | undefined };

const page = createRoute({
  getParentRoute: () => shell,
  path: '/stories',
  validateSearch: (search: Search): StoriesSearch =>
    compact({
      q: textOf(search, 'q'),
      severity: oneOf(search, 'severity', severities),
      story: textOf(search, 'story'),
    }),
  component: lazyRouteComponent(() => import('../pages/stories/stories-page.tsx'), 'StoriesPage'),
});

export const storyRoutes = [page] as const;
