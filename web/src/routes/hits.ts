import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { CallState } from '../api/agents.ts';
import type { EntityPath, HitFilter, HitStatus } from '../api/hits.ts';
import type { IncidentFilter } from '../api/incidents.ts';
import type { CaseFilter, CaseState, ReviewCase } from '../api/review.ts';
import { texts } from '../texts/hits.ts';
import { severities } from '../ui/labels/severity.tsx';
import { compact, membersOf, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

type HitsSearch = HitFilter & { hit?: string | undefined; by?: 'wave' | 'entity' | undefined };

const list = createRoute({
  getParentRoute: () => shell,
  path: '/hits',
  validateSearch: (search: Search): HitsSearch =>
    compact({
      status: oneOf(search, 'status', Object.keys(texts.status) as HitStatus[]),
      severity: oneOf(search, 'severity', severities),
      verdict: oneOf(search, 'verdict', ['undecided', 'raise', 'dismiss']),
      detection: textOf(search, 'detection'),
      entity: textOf(search, 'entity'),
      value: textOf(search, 'value'),
      q: textOf(search, 'q'),
      group: textOf(search, 'group'),
      by: oneOf(search, 'by', ['wave', 'entity']),
      hit: textOf(search, 'hit'),
    }),
  component: lazyRouteComponent(() => import('../pages/hits/hits-page.tsx'), 'HitsPage'),
});

const one = createRoute({
  getParentRoute: () => shell,
  path: '/hits/$id',
  component: lazyRouteComponent(() => import('../pages/hits/hit-page.tsx'), 'HitPage'),
});

const entity = createRoute({
  getParentRoute: () => shell,
  path: '/hits/entity',
  validateSearch: (search: Search): EntityPath => ({
    type: oneOf(search, 'type', Object.keys(texts.profile.types) as EntityPath['type'][]) ?? 'entity',
    name: textOf(search, 'name') ?? '',
  }),
  component: lazyRouteComponent(() => import('../pages/hits/entity-page.tsx'), 'EntityPage'),
});

const callStates = membersOf<CallState>({
  waiting: true,
  approved: true,
  done: true,
  failed: true,
  declined: true,
  expired: true,
});

type ApprovalSearch = { state?: CallState | undefined; agent?: string | undefined; call?: string | undefined };

/** `call` is the open agent. Without a state, those that wait are listed. */
const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  validateSearch: (search: Search): ApprovalSearch =>
    compact({
      state: oneOf(search, 'state', callStates),
      agent: textOf(search, 'agent'),
      call: textOf(search, 'call'),
    }),
  component: lazyRouteComponent(() => import('../pages/approvals/approvals-page.tsx'), 'ApprovalsPage'),
});

type In<Name extends keyof IncidentFilter> = NonNullable<IncidentFilter[Name]>;
const incidentStates = membersOf<In<'state'>>({ active: true, open: true, in_progress: true, closed: true });
const inboxes = membersOf<In<'inbox'>>({ mine: true, mentioned: true, watching: true, unowned: true, late: true });
const incidentSorts = membersOf<In<'sort'>>({ latest: true, severity: true, due: true });

const incidents = createRoute({
  getParentRoute: () => shell,
  path: '/incidents',
  validateSearch: (search: Search): IncidentFilter =>
    compact({
      state: oneOf(search, 'state', incidentStates),
      severity: oneOf(search, 'severity', severities),
      owner: textOf(search, 'owner'),
      watcher: textOf(search, 'watcher'),
      inbox: oneOf(search, 'inbox', inboxes),
      entity: textOf(search, 'entity'),
      q: textOf(search, 'q'),
      sort: oneOf(search, 'sort', incidentSorts),
    }),
  component: lazyRouteComponent(() => import('../pages/incidents/incidents-page.tsx'), 'IncidentsPage'),
});

const incident = createRoute({
  getParentRoute: () => shell,
  path: '/incidents/$id',
  component: lazyRouteComponent(() => import('../pages/incidents/incident-page.tsx'), 'IncidentPage'),
});

/** `hunt` is the open one, or `new`. With `edit`, its settings are open. */
type HuntsSearch = { hunt?: string | undefined; edit?: 'yes' | undefined };

const hunts = createRoute({
  getParentRoute: () => shell,
  path: '/hunts',
  validateSearch: (search: Search): HuntsSearch =>
    compact({ hunt: textOf(search, 'hunt'), edit: oneOf(search, 'edit', ['yes']) }),
  component: lazyRouteComponent(() => import('../pages/hunts/hunts-page.tsx'), 'HuntsPage'),
});

/** The address of a hunt in events. */
const hunt = createRoute({
  getParentRoute: () => shell,
  path: '/hunts/$id',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/hunts', search: { hunt: params.id } });
  },
});

const caseStates = membersOf<CaseState>({ open: true, raised: true, dismissed: true, expired: true, outdated: true });
const caseKinds = membersOf<ReviewCase['kind']>({ undecided: true, audit: true });

type ReviewSearch = CaseFilter & { case?: string | undefined };

const review = createRoute({
  getParentRoute: () => shell,
  path: '/review',
  validateSearch: (search: Search): ReviewSearch =>
    compact({
      state: oneOf(search, 'state', caseStates),
      kind: oneOf(search, 'kind', caseKinds),
      detection: textOf(search, 'detection'),
      entity: textOf(search, 'entity'),
      case: textOf(search, 'case'),
    }),
  component: lazyRouteComponent(() => import('../pages/review/review-page.tsx'), 'ReviewPage'),
});

/** The address of a case in events. */
const reviewCase = createRoute({
  getParentRoute: () => shell,
  path: '/review/$id',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/review', search: { case: params.id } });
  },
});

export const hitRoutes = [list, entity, one, incidents, incident, hunts, hunt, review, reviewCase, approvals] as const;
