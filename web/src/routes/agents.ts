import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { CallState } from '../api/agents.ts';
import { texts } from '../texts/agents.ts';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const list = createRoute({
  getParentRoute: () => shell,
  path: '/agents',
  component: lazyRouteComponent(() => import('../pages/detections/agents/agents-page.tsx'), 'AgentsPage'),
});

const create = createRoute({
  getParentRoute: () => shell,
  path: '/agents/new',
  component: lazyRouteComponent(() => import('../pages/detections/agents/new-agent-page.tsx'), 'NewAgentPage'),
});

const one = createRoute({
  getParentRoute: () => shell,
  path: '/agents/$id',
  validateSearch: (search: Search): { tab?: keyof typeof texts.tabs } =>
    compact({ tab: oneOf(search, 'tab', Object.keys(texts.tabs) as (keyof typeof texts.tabs)[]) }),
  component: lazyRouteComponent(() => import('../pages/detections/agents/agent-page.tsx'), 'AgentPage'),
});

type ApprovalSearch = { state?: CallState | undefined; agent?: string | undefined; call?: string | undefined };

/** `call` is the open one. Without a state, those that wait are listed. */
const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  validateSearch: (search: Search): ApprovalSearch =>
    compact({
      state: oneOf(search, 'state', Object.keys(texts.calls.states) as CallState[]),
      agent: textOf(search, 'agent'),
      call: textOf(search, 'call'),
    }),
  component: lazyRouteComponent(() => import('../pages/approvals/approvals-page.tsx'), 'ApprovalsPage'),
});

export const agentRoutes = [list, create, one, approvals] as const;
