import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { Delivery } from '../api/destinations.ts';
import { compact, membersOf, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyRouteComponent(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
});

const first = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/organization', replace: true });
  },
});

const organization = createRoute({
  getParentRoute: () => settings,
  path: '/organization',
  component: lazyRouteComponent(() => import('../pages/settings/organization-section.tsx'), 'OrganizationSection'),
});
const people = createRoute({
  getParentRoute: () => settings,
  path: '/people',
  component: lazyRouteComponent(() => import('../pages/settings/people-section.tsx'), 'PeopleSection'),
});
const keys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  component: lazyRouteComponent(() => import('../pages/settings/keys/keys-section.tsx'), 'KeysSection'),
});
const sessions = createRoute({
  getParentRoute: () => settings,
  path: '/sessions',
  component: lazyRouteComponent(() => import('../pages/settings/sessions-section.tsx'), 'SessionsSection'),
});
const connections = createRoute({
  getParentRoute: () => settings,
  path: '/connections',
  component: lazyRouteComponent(
    () => import('../pages/settings/connections/connections-section.tsx'),
    'ConnectionsSection',
  ),
});
const models = createRoute({
  getParentRoute: () => settings,
  path: '/models',
  component: lazyRouteComponent(() => import('../pages/settings/models-section.tsx'), 'ModelsSection'),
});
const agents = createRoute({
  getParentRoute: () => settings,
  path: '/agents',
  component: lazyRouteComponent(() => import('../pages/settings/agents-section.tsx'), 'AgentsSection'),
});
const skills = createRoute({
  getParentRoute: () => settings,
  path: '/skills',
  component: lazyRouteComponent(() => import('../pages/settings/skills/skills-section.tsx'), 'SkillsSection'),
});
const lists = createRoute({
  getParentRoute: () => settings,
  path: '/lists',
  component: lazyRouteComponent(() => import('../pages/settings/lists-section.tsx'), 'ListsSection'),
});
const enrichers = createRoute({
  getParentRoute: () => settings,
  path: '/enrichers',
  component: lazyRouteComponent(() => import('../pages/settings/enrichers-section.tsx'), 'EnrichersSection'),
});
const skill = createRoute({
  getParentRoute: () => settings,
  path: '/skills/$name',
  validateSearch: (search: Search): { version?: string | undefined } => compact({ version: textOf(search, 'version') }),
  component: lazyRouteComponent(() => import('../pages/settings/skills/skill-section.tsx'), 'SkillSection'),
});
const destinations = createRoute({
  getParentRoute: () => settings,
  path: '/destinations',
  component: lazyRouteComponent(
    () => import('../pages/settings/destinations/destinations-section.tsx'),
    'DestinationsSection',
  ),
});
const deliveryStates = membersOf<Delivery['state']>({ pending: true, delivered: true, failed: true });
const destination = createRoute({
  getParentRoute: () => settings,
  path: '/destinations/$id',
  validateSearch: (search: Search): { state?: Delivery['state'] | undefined } =>
    compact({ state: oneOf(search, 'state', deliveryStates) }),
  component: lazyRouteComponent(
    () => import('../pages/settings/destinations/destination-section.tsx'),
    'DestinationSection',
  ),
});
const sources = createRoute({
  getParentRoute: () => settings,
  path: '/sources',
  validateSearch: (search: Search): { tool?: string | undefined } => compact({ tool: textOf(search, 'tool') }),
  component: lazyRouteComponent(() => import('../pages/settings/sources/sources-section.tsx'), 'SourcesSection'),
});
const auditPeriods = ['day', 'week', 'month'] as const;
type AuditPeriod = (typeof auditPeriods)[number];
type AuditSearch = {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  period?: AuditPeriod | undefined;
};
const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: (search: Search): AuditSearch =>
    compact({
      actor: textOf(search, 'actor'),
      action: textOf(search, 'action'),
      target: textOf(search, 'target'),
      period: oneOf(search, 'period', auditPeriods),
    }),
  component: lazyRouteComponent(() => import('../pages/settings/audit/audit-section.tsx'), 'AuditSection'),
});
const usage = createRoute({
  getParentRoute: () => settings,
  path: '/usage',
  component: lazyRouteComponent(() => import('../pages/settings/usage/usage-section.tsx'), 'UsageSection'),
});
const relevance = createRoute({
  getParentRoute: () => settings,
  path: '/relevance',
  component: lazyRouteComponent(() => import('../pages/settings/relevance/relevance-section.tsx'), 'RelevanceSection'),
});
const retention = createRoute({
  getParentRoute: () => settings,
  path: '/retention',
  component: lazyRouteComponent(() => import('../pages/settings/retention/retention-section.tsx'), 'RetentionSection'),
});

export const settingsRoutes = [
  settings.addChildren([
    first,
    organization,
    people,
    keys,
    sessions,
    connections,
    models,
    agents,
    skills,
    skill,
    lists,
    enrichers,
    destinations,
    destination,
    sources,
    relevance,
    audit,
    usage,
    retention,
  ]),
] as const;
