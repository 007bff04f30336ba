import { IdPath } from '../detections/record/detection-input.schema.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import {
  estimateBackfill,
  requestBackfill,
  type BackfillDeps,
  cancelRun,
  requestResponse,
  type RequestResponseDeps,
  requestRun,
} from './request-run.ts';
import { getGaps, getRun, getRuns, getWindows, getSteps } from './read-runs.ts';
import {
  WindowList,
  WindowsQuery,
  Agreement,
  Replay,
  ReplayRequest,
  Shadow,
  ShadowInput,
  StepList,
} from './run-model/run-details.schema.ts';
import {
  Backfill,
  BackfillQuery,
  BackfillRequest,
  GapList,
  ResponseRequest,
  Run,
  RunList,
  RunRequest,
  RunStarted,
} from './run-model/runs.schema.ts';
import { getAgreement, endShadow, getShadow, setShadow, versionOfShadow } from './reviews/shadow.ts';
import { AgentCall, AgentCallFilter, AgentCallList, ApproveCall } from './responses/agent-calls.schema.ts';
import { type ActionDeps, approveCall, declineCall, getCalls } from './responses/agent-calls.ts';
import { replayRun, type ReplayDeps } from './reviews/replay-run.ts';

export function runRoutes(app: App, deps: BackfillDeps & RequestResponseDeps & ActionDeps): void {
  responseRoutes(app, deps);
  const route = apiRoutes(app, { tag: 'runs', scope: 'detections:run' });
  route(
    'POST /api/detections/:id/run',
    {
      operationId: 'runDetection',
      summary: 'Run a detection now',
      isBodyOptional: true,
      params: IdPath,
      body: RunRequest,
      returns: RunStarted,
    },
    ({ caller, params, body }) => requestRun(deps, caller, params.id, body),
  );
  route(
    'GET /api/detections/:id/runs',
    {
      operationId: 'listRuns',
      summary: 'List runs, newest first',
      scope: 'detections:read',
      params: IdPath,
      query: PageQuery,
      returns: RunList,
    },
    ({ caller, params, query }) => getRuns(deps, caller, params.id, query),
  );
  route(
    'GET /api/detections/:id/gaps',
    {
      operationId: 'listGaps',
      summary: 'List gaps, the time that no run examined, latest first',
      scope: 'detections:read',
      params: IdPath,
      query: PageQuery,
      returns: GapList,
    },
    ({ caller, params, query }) => getGaps(deps, caller, params.id, query),
  );
  route(
    'GET /api/detections/:id/windows',
    {
      operationId: 'getDetectionTimeline',
      summary: 'Get the time line of a detection: examined time, waiting windows and gaps',
      scope: 'detections:read',
      params: IdPath,
      query: WindowsQuery,
      returns: WindowList,
    },
    ({ caller, params, query }) => getWindows(deps, caller, params.id, query),
  );
  route(
    'POST /api/detections/:id/backfill',
    {
      operationId: 'backfillGaps',
      summary: 'Backfill gaps',
      params: IdPath,
      query: BackfillQuery,
      body: BackfillRequest,
      returns: Backfill,
    },
    ({ caller, params, query, body }) => {
      const backfill = query.estimate === 'true' ? estimateBackfill : requestBackfill;
      return backfill(deps, caller, params.id, body);
    },
  );
  route(
    'GET /api/runs/:id',
    { operationId: 'getRun', summary: 'Get a run', scope: 'detections:read', params: IdPath, returns: Run },
    ({ caller, params }) => getRun(deps, caller, params.id),
  );
  route(
    'POST /api/runs/:id/cancel',
    { operationId: 'cancelRun', summary: 'Cancel a run', params: IdPath, returns: Run },
    ({ caller, params }) => cancelRun(deps, caller, params.id),
  );
}

/** How long an approved call may take. */
const approvedMs = 30_000;

function responseRoutes(app: App, deps: RequestResponseDeps & ActionDeps): void {
  const route = apiRoutes(app, { tag: 'agents', scope: 'detections:run' });
  route(
    'POST /api/agents/:id/run',
    {
      operationId: 'runAgent',
      summary: 'Run a response agent now, on a hit or on inputs',
      isBodyOptional: true,
      params: IdPath,
      body: ResponseRequest,
      returns: RunStarted,
    },
    ({ caller, params, body }) => requestResponse(deps, caller, params.id, body),
  );
  route(
    'GET /api/agent-calls',
    {
      operationId: 'listAgentCalls',
      summary: 'List the calls that response agents proposed, newest first',
      scope: 'hits:read',
      query: AgentCallFilter,
      returns: AgentCallList,
    },
    ({ caller, query }) => getCalls(deps, caller, query),
  );
  route(
    'POST /api/agent-calls/:id/approve',
    {
      operationId: 'approveAgentCall',
      summary: 'Approve a call, which is then executed in your name',
      description: 'It needs the scopes that the action itself needs.',
      scope: 'hits:read',
      params: IdPath,
      body: ApproveCall,
      returns: AgentCall,
    },
    ({ caller, params, body }) => approveCall(deps, caller, { ...params, ...body }, AbortSignal.timeout(approvedMs)),
  );
  route(
    'POST /api/agent-calls/:id/decline',
    {
      operationId: 'declineAgentCall',
      summary: 'Decline a call, which is then never executed',
      scope: 'hits:write',
      params: IdPath,
      returns: AgentCall,
    },
    ({ caller, params }) => declineCall(deps, caller, params.id),
  );
}

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
      summary: 'Get how often people confirmed what a model raised',
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
    ({ caller, params, body, ifMatch }) => setShadow(deps, caller, { id: params.id, ifMatch }, body),
  );
  route(
    'DELETE /api/detections/:id/shadow',
    {
      operationId: 'removeShadow',
      ...shadow,
      summary: 'Remove the shadow of a detection. Its comparisons stay',
      scope: 'detections:write',
      acceptsIfMatch: true,
    },
    ({ caller, params, ifMatch }) => endShadow(deps, caller, { id: params.id, ifMatch }),
  );
}
