import { IdPath } from '../detections/record/detection-input.schema.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { Agreement, Replay, ReplayRequest, Shadow, ShadowInput, StepList } from './run-details.schema.ts';
import { getAgreement } from './reviews/agreement.ts';
import { replayRun, type ReplayDeps } from './reviews/replay-run.ts';
import { endShadow, getShadow, setShadow, versionOfShadow } from './reviews/shadow.ts';
import { getSteps } from './read-steps.ts';

export function runDetailRoutes(app: App, deps: ReplayDeps): void {
  const route = apiRoutes(app, { tag: 'runs', scope: 'detections:read' });
  route(
    'GET /api/runs/:id/steps',
    {
      operationId: 'listRunSteps',
      summary: 'List the model and tool steps of a run, in order',
      params: IdPath,
      query: PageQuery,
      returns: StepList,
    },
    ({ caller, params, query }) => getSteps(deps, caller, params.id, query),
  );
  route(
    'POST /api/runs/:id/replay',
    {
      operationId: 'replayRun',
      summary: 'Judge the candidates of a run again, under another prompt version or model',
      scope: 'detections:run',
      isBodyOptional: true,
      params: IdPath,
      body: ReplayRequest,
      returns: Replay,
    },
    ({ caller, params, body }) => replayRun(deps, caller, params.id, body),
  );
  route(
    'GET /api/detections/:id/agreement',
    {
      operationId: 'getAgreement',
      summary: 'Get how often the judge model agrees with analysts on hits',
      params: IdPath,
      returns: Agreement,
    },
    ({ caller, params }) => getAgreement(deps, caller, params.id),
  );
  const shadow = { params: IdPath, returns: Shadow, versionOf: versionOfShadow };
  route(
    'GET /api/detections/:id/shadow',
    { operationId: 'getShadow', ...shadow, summary: 'Get the shadow of a detection and where its verdicts differ' },
    ({ caller, params }) => getShadow(deps, caller, params.id),
  );
  route(
    'PUT /api/detections/:id/shadow',
    {
      operationId: 'setShadow',
      ...shadow,
      summary: 'Set the shadow of a detection: another prompt version or model that judges its runs too',
      scope: 'detections:write',
      acceptsIfMatch: true,
      body: ShadowInput,
    },
    ({ caller, params, body, request }) =>
      setShadow(deps, caller, { id: params.id, ifMatch: request.headers['if-match'] }, body),
  );
  route(
    'DELETE /api/detections/:id/shadow',
    {
      operationId: 'removeShadow',
      ...shadow,
      summary: 'Remove the shadow of a detection. Its comparisons stay',
      scope: 'detections:write',
      ignoresBody: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, request }) => endShadow(deps, caller, { id: params.id, ifMatch: request.headers['if-match'] }),
  );
}
