import type { ChangeIncidentDeps } from '../../detection/incidents/change-incident.ts';
import { incidentVersion } from '../../detection/incidents/change-incident.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import {
  ChangeHunt,
  FindingQuery,
  Hunt,
  HuntFindingList,
  HuntInput,
  HuntList,
  HuntPath,
  HuntRun,
  HuntRunList,
  JoinedIncident,
  JoinFindings,
  ProposedHunt,
  ProposeHunt,
} from './hunts.schema.ts';
import {
  changeHunt,
  createHunt,
  getHunt,
  getHuntFindings,
  getHuntRun,
  getHuntRuns,
  getHunts,
  joinFindings,
  removeHunt,
  runHunt,
} from './hunts.ts';
import { proposeHunt, type ProposeHuntDeps } from './propose-hunt.ts';

/** Registers the routes of hunts. Who may search logs may hunt. Findings are read as hits are. */
export function huntRoutes(app: App, deps: ProposeHuntDeps & ChangeIncidentDeps): void {
  const route = apiRoutes(app, { tag: 'hunts', scope: 'detections:run' });
  const scope = 'hits:read';
  route(
    'GET /api/hunts',
    { operationId: 'listHunts', summary: 'List the hunts with their last runs', scope, returns: HuntList },
    ({ caller }) => getHunts(deps, caller),
  );
  route(
    'POST /api/hunts',
    {
      operationId: 'createHunt',
      summary: 'Save a question over a span of the past',
      description: 'A hunt with a cadence runs within seconds, and then daily or weekly.',
      body: HuntInput,
      returns: Hunt,
      hasEtag: true,
    },
    ({ caller, body }) => createHunt(deps, caller, body),
  );
  route(
    'POST /api/hunts/propose',
    {
      operationId: 'proposeHunt',
      summary: 'Let a model write the query of a hunt from plain words, and try it, without storing it',
      description:
        'The model with the alias `default` reads the datasets and fields of the logs, and writes a query that runs. Save it with `POST /api/hunts`.',
      body: ProposeHunt,
      returns: ProposedHunt,
    },
    ({ caller, body }) => proposeHunt(deps, caller, body),
  );
  route(
    'GET /api/hunts/:id',
    {
      operationId: 'getHunt',
      summary: 'Get a hunt with its last run',
      scope,
      params: HuntPath,
      returns: Hunt,
      hasEtag: true,
    },
    ({ caller, params }) => getHunt(deps, caller, params.id),
  );
  route(
    'PUT /api/hunts/:id',
    {
      operationId: 'updateHunt',
      summary: 'Change a hunt. Absent fields are unchanged',
      description: 'Runs are compared with earlier ones of the same question only.',
      params: HuntPath,
      body: ChangeHunt,
      returns: Hunt,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => changeHunt(deps, caller, params.id, { changes: body, ifMatch }),
  );
  route(
    'DELETE /api/hunts/:id',
    {
      operationId: 'deleteHunt',
      summary: 'Delete a hunt with its runs. Findings that joined incidents stay there',
      params: HuntPath,
      acceptsIfMatch: true,
      returns: Hunt,
    },
    ({ caller, params, ifMatch }) => removeHunt(deps, caller, params.id, ifMatch),
  );
  route(
    'POST /api/hunts/:id/run',
    {
      operationId: 'runHunt',
      summary: 'Run a hunt',
      description: 'Returns the queued run, or the one that waits or is under way already.',
      params: HuntPath,
      returns: HuntRun,
    },
    ({ caller, params }) => runHunt(deps, caller, params.id),
  );
  route(
    'GET /api/hunts/:id/runs',
    {
      operationId: 'listHuntRuns',
      summary: 'List the runs of a hunt',
      scope,
      params: HuntPath,
      query: PageQuery,
      returns: HuntRunList,
    },
    ({ caller, params, query }) => getHuntRuns(deps, caller, params.id, query),
  );
  route(
    'GET /api/hunt-runs/:id',
    { operationId: 'getHuntRun', summary: 'Get a run of a hunt', scope, params: HuntPath, returns: HuntRun },
    ({ caller, params }) => getHuntRun(deps, caller, params.id),
  );
  route(
    'GET /api/hunt-runs/:id/findings',
    {
      operationId: 'listHuntFindings',
      summary: 'List the findings of a run, compared with the run before',
      scope,
      params: HuntPath,
      query: FindingQuery,
      returns: HuntFindingList,
    },
    ({ caller, params, query }) => getHuntFindings(deps, caller, params.id, query),
  );
  route(
    'POST /api/hunt-runs/:id/incident',
    {
      operationId: 'joinHuntFindings',
      summary: 'Add findings of a run to an incident, or open one from them',
      description:
        'The rows are copied with the query that returned them. They are on the time line, in the report and in the evidence bundle. Those that the incident has already are left as they are.',
      scope: 'hits:write',
      params: HuntPath,
      body: JoinFindings,
      returns: JoinedIncident,
      versionOf: incidentVersion,
    },
    ({ caller, params, body }) => joinFindings(deps, caller, params.id, body),
  );
}
