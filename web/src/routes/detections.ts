import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { DetectionCategory, DetectionFilter, DetectionHealth, DetectionSort } from '../api/detections.ts';
import { texts } from '../texts/detections.ts';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const orders = ['createdAt', 'name', 'lastRunAt', 'nextRunAt', 'newHits30d', 'openHits'] as const;
const sorts: DetectionSort[] = orders.flatMap((order) => [order, `-${order}` as const]);

const list = createRoute({
  getParentRoute: () => shell,
  path: '/detections',
  validateSearch: (search: Search): DetectionFilter =>
    compact({
      q: textOf(search, 'q'),
      health: oneOf(search, 'health', Object.keys(texts.health) as DetectionHealth[]),
      category: textOf(search, 'category') as DetectionCategory | undefined,
      enabled: oneOf(search, 'enabled', ['true', 'false']),
      tag: textOf(search, 'tag'),
      siemType: textOf(search, 'siemType'),
      sort: oneOf(search, 'sort', sorts),
    }),
  component: lazyRouteComponent(() => import('../pages/detections/list/detections-page.tsx'), 'DetectionsPage'),
});

const create = createRoute({
  getParentRoute: () => shell,
  path: '/detections/new',
  validateSearch: (search: Search): { query?: string | undefined } => compact({ query: textOf(search, 'query') }),
  component: lazyRouteComponent(() => import('../pages/detections/editor/new-detection-page.tsx'), 'NewDetectionPage'),
});

export const detectionTabs = [
  'overview',
  'definition',
  'prompts',
  'revisions',
  'tests',
  'backtest',
  'exceptions',
  'runs',
] as const;
export type DetectionTab = (typeof detectionTabs)[number];

const one = createRoute({
  getParentRoute: () => shell,
  path: '/detections/$id',
  validateSearch: (search: Search): { tab?: DetectionTab; days?: string } =>
    compact({ tab: oneOf(search, 'tab', detectionTabs), days: oneOf(search, 'days', ['1', '7', '30', '90']) }),
  component: lazyRouteComponent(() => import('../pages/detections/detail/detection-page.tsx'), 'DetectionPage'),
});

export const detectionRoutes = [list, create, one] as const;
