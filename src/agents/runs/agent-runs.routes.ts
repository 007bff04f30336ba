import { IdPath } from '../../detection/detections/record/detection-input.schema.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { StepList } from '../../detection/runs/run-model/run-details.schema.ts';
import { getAgentRuns, getAgentRunSteps, type ReadAgentRunsDeps } from './read-agent-runs.ts';
import { AgentRunList, AgentRunPath } from './agent-runs.schema.ts';

export function agentRunRoutes(app: App, deps: ReadAgentRunsDeps): void {
  const route = apiRoutes(app, { tag: 'agents', scope: 'detections:read' });
  route(
    'GET /api/agents/:id/runs',
    {
      operationId: 'listAgentRuns',
      summary: 'List the runs of a response agent, built in or not, newest first',
      params: IdPath,
      query: PageQuery,
      returns: AgentRunList,
    },
    ({ caller, params, query }) => getAgentRuns(deps, caller, params.id, query),
  );
  route(
    'GET /api/agents/:id/runs/:runId/steps',
    {
      operationId: 'listAgentRunSteps',
      summary: 'List the model and tool steps of a run of a response agent, in order',
      params: AgentRunPath,
      query: PageQuery,
      returns: StepList,
    },
    ({ caller, params, query }) => getAgentRunSteps(deps, caller, params, query),
  );
}
