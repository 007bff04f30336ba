import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { changeIncident, changeIncidents, incidentVersion, type ChangeIncidentDeps } from './change-incident.ts';
import { addIncidentComment, readMentions, watchIncident } from './discuss-incident.ts';
import {
  ChangedIncidents,
  ChangeIncident,
  ChangeIncidents,
  IncidentComment,
  IncidentCommentList,
  IncidentDetail,
  IncidentFilter,
  IncidentInbox,
  IncidentList,
  IncidentPath,
  IncidentTimeline,
  MergeIncidents,
  MoveHits,
  NewIncident,
  NewIncidentComment,
  SplitIncident,
  WatchIncident,
} from './incidents.schema.ts';
import { mergeIncidents, moveHits, openIncident, splitIncident } from './move-hits.ts';
import { getInbox, getIncident, getIncidentComments, getIncidents, getIncidentTimeline } from './read-incidents.ts';

export function incidentRoutes(app: App, deps: ChangeIncidentDeps): void {
  const route = apiRoutes(app, { tag: 'incidents', scope: 'hits:read' });
  const detail = { params: IncidentPath, returns: IncidentDetail, versionOf: incidentVersion };
  const change = { ...detail, scope: 'hits:write', acceptsIfMatch: true } as const;
  route(
    'GET /api/incidents',
    { operationId: 'listIncidents', summary: 'List incidents', query: IncidentFilter, returns: IncidentList },
    ({ caller, query }) => getIncidents(deps, caller, query),
  );
  route(
    'GET /api/incident-inbox',
    {
      operationId: 'getIncidentInbox',
      summary: 'Count the incidents that wait for the person who calls',
      description: '`GET /api/incidents?inbox=` lists them.',
      returns: IncidentInbox,
    },
    ({ caller }) => getInbox(deps, caller),
  );
  route(
    'POST /api/incidents/bulk',
    {
      operationId: 'updateIncidents',
      summary: 'Change and watch several incidents',
      description: 'Each is changed in a transaction of its own, so that one that fails does not affect the others.',
      scope: 'hits:write',
      body: ChangeIncidents,
      returns: ChangedIncidents,
    },
    ({ caller, body }) => changeIncidents(deps, caller, body),
  );
  route(
    'GET /api/incidents/:id',
    {
      operationId: 'getIncident',
      summary: 'Get an incident with its stages, entities, reasons and links',
      description:
        'The ID of an incident that was merged into another returns the other one. `GET /api/hits?incident=` lists the hits.',
      ...detail,
    },
    ({ caller, params }) => getIncident(deps, caller, params.id),
  );
  route(
    'POST /api/incidents',
    {
      operationId: 'openIncident',
      summary: 'Open an incident from hits',
      scope: 'hits:write',
      body: NewIncident,
      returns: IncidentDetail,
      versionOf: incidentVersion,
    },
    ({ caller, body }) => openIncident(deps, caller, body),
  );
  route(
    'PATCH /api/incidents/:id',
    {
      operationId: 'updateIncident',
      summary: 'Set state, owner and severity of an incident',
      description:
        'Closing it gives the hits that nobody has judged its resolution. Opening it again takes that back for hits that did not change since.',
      ...change,
      body: ChangeIncident,
    },
    ({ caller, params, body, ifMatch }) => changeIncident(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'POST /api/incidents/:id/merge',
    {
      operationId: 'mergeIncidents',
      summary: 'Move the hits of other incidents into one',
      ...change,
      body: MergeIncidents,
    },
    ({ caller, params, body, ifMatch }) => mergeIncidents(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'POST /api/incidents/:id/split',
    {
      operationId: 'splitIncident',
      summary: 'Split hits of an incident off into a new one',
      description: 'Returns the new incident.',
      ...change,
      body: SplitIncident,
    },
    ({ caller, params, body, ifMatch }) => splitIncident(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'POST /api/incidents/:id/hits',
    {
      operationId: 'moveIncidentHits',
      summary: 'Add hits to an incident and remove others',
      ...change,
      body: MoveHits,
    },
    ({ caller, params, body, ifMatch }) => moveHits(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'GET /api/incidents/:id/timeline',
    {
      operationId: 'listIncidentTimeline',
      summary: 'List hits, comments and changes of an incident in order of time, latest first',
      params: IncidentPath,
      query: PageQuery,
      returns: IncidentTimeline,
    },
    ({ caller, params, query }) => getIncidentTimeline(deps, caller, params.id, query),
  );
  route(
    'GET /api/incidents/:id/comments',
    {
      operationId: 'listIncidentComments',
      summary: 'List the comments on an incident, newest first',
      params: IncidentPath,
      query: PageQuery,
      returns: IncidentCommentList,
    },
    ({ caller, params, query }) => getIncidentComments(deps, caller, params.id, query),
  );
  route(
    'POST /api/incidents/:id/comments',
    {
      operationId: 'addIncidentComment',
      summary: 'Comment on an incident',
      scope: 'hits:write',
      params: IncidentPath,
      body: NewIncidentComment,
      returns: IncidentComment,
    },
    ({ caller, params, body }) => addIncidentComment(deps, caller, params.id, body),
  );
  followRoutes(app, deps);
}

function followRoutes(app: App, deps: ChangeIncidentDeps): void {
  const route = apiRoutes(app, { tag: 'incidents', scope: 'hits:read' });
  route(
    'POST /api/incidents/:id/watch',
    {
      operationId: 'watchIncident',
      summary: 'Watch an incident, or stop watching it',
      params: IncidentPath,
      body: WatchIncident,
      returns: IncidentDetail,
      versionOf: incidentVersion,
    },
    ({ caller, params, body }) => watchIncident(deps, caller, params.id, body),
  );
  route(
    'POST /api/incidents/:id/read',
    {
      operationId: 'readIncidentMentions',
      summary: 'Mark the comments on an incident that mention the caller as read',
      params: IncidentPath,
      returns: IncidentInbox,
    },
    ({ caller, params }) => readMentions(deps, caller, params.id),
  );
}
