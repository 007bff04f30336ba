import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { DetectionCategory, DetectionFilter, DetectionHealth, DetectionSort } from '../api/detections.ts';
import { compact, membersOf, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const orders = ['createdAt', 'name', 'lastRunAt', 'nextRunAt', 'newHits30d', 'openHits'] as const;
const sorts: DetectionSort[] = orders.flatMap((order) => [order, `-${order}` as const]);

const healths = membersOf<DetectionHealth>({
  stopped: true,
  failing: true,
  paused: true,
  gap: true,
  warning: true,
  healthy: true,
  disabled: true,
});

const list = createRoute({
  getParentRoute: () => shell,
  path: '/detections',
  validateSearch: (search: Search): DetectionFilter =>
    compact({
      q: textOf(search, 'q'),
      health: oneOf(search, 'health', healths),
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
  validateSearch: (search: Search): { query?: string | undefined; intent?: string | undefined } =>
    compact({ query: textOf(search, 'query'), intent: textOf(search, 'intent') }),
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

const agents = createRoute({
  getParentRoute: () => shell,
  path: '/agents',
  component: lazyRouteComponent(() => import('../pages/detections/agents/agents-page.tsx'), 'AgentsPage'),
});

const newAgent = createRoute({
  getParentRoute: () => shell,
  path: '/agents/new',
  component: lazyRouteComponent(() => import('../pages/detections/agents/new-agent-page.tsx'), 'NewAgentPage'),
});

const agentTabs = ['overview', 'triggers', 'definition', 'prompts', 'revisions', 'runs'] as const;
type AgentTab = (typeof agentTabs)[number];

const agent = createRoute({
  getParentRoute: () => shell,
  path: '/agents/$id',
  validateSearch: (search: Search): { tab?: AgentTab | undefined } => compact({ tab: oneOf(search, 'tab', agentTabs) }),
  component: lazyRouteComponent(() => import('../pages/detections/agents/agent-page.tsx'), 'AgentPage'),
});

/** `source` is the open one: its ID, `new` for the packages, or `own` for an address. With `edit`, its settings are open. */
type RuleSourcesSearch = { source?: string | undefined; edit?: 'yes' | undefined };

const ruleSources = createRoute({
  getParentRoute: () => shell,
  path: '/rule-sources',
  validateSearch: (search: Search): RuleSourcesSearch =>
    compact({ source: textOf(search, 'source'), edit: oneOf(search, 'edit', ['yes']) }),
  component: lazyRouteComponent(
    () => import('../pages/detections/rule-sources/rule-sources-page.tsx'),
    'RuleSourcesPage',
  ),
});

const runTabs = ['verdicts', 'steps', 'replay'] as const;

/** `entity` is the candidate whose investigation is open. */
type RunSearch = { tab?: (typeof runTabs)[number] | undefined; entity?: string | undefined };

const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$id',
  validateSearch: (search: Search): RunSearch =>
    compact({ tab: oneOf(search, 'tab', runTabs), entity: textOf(search, 'entity') }),
  component: lazyRouteComponent(() => import('../pages/runs/run-page.tsx'), 'RunPage'),
});

export const detectionRoutes = [list, create, one, agents, newAgent, agent, ruleSources, run] as const;
