import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { IncidentFilter } from '../api/incidents.ts';
import { texts } from '../texts/incidents.ts';
import { severities } from '../ui/labels/severity.tsx';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const list = createRoute({
  getParentRoute: () => shell,
  path: '/incidents',
  validateSearch: (search: Search): IncidentFilter =>
    compact({
      state: oneOf(search, 'state', Object.keys(texts.states) as (keyof typeof texts.states)[]),
      severity: oneOf(search, 'severity', severities),
      owner: textOf(search, 'owner'),
      watcher: textOf(search, 'watcher'),
      inbox: oneOf(search, 'inbox', Object.keys(texts.inbox) as (keyof typeof texts.inbox)[]),
      entity: textOf(search, 'entity'),
      q: textOf(search, 'q'),
      sort: oneOf(search, 'sort', Object.keys(texts.sorts) as (keyof typeof texts.sorts)[]),
    }),
  component: lazyRouteComponent(() => import('../pages/incidents/incidents-page.tsx'), 'IncidentsPage'),
});

const one = createRoute({
  getParentRoute: () => shell,
  path: '/incidents/$id',
  component: lazyRouteComponent(() => import('../pages/incidents/incident-page.tsx'), 'IncidentPage'),
});

export const incidentRoutes = [list, one] as const;
