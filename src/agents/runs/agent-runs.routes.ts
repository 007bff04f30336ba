import { IdPath } from '../../detection/detections/record/detection-input.schema.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { StepList } from '../../detection/runs/run-details.schema.ts';
import { getAgentRuns, getAgentRunSteps, type ReadAgentRunsDeps } from './read-agent-runs.ts';
import { AgentRunList, AgentRunPath } from './agent-runs.schema.ts';

export function agentRunRoutes(app: App, deps: ReadAgentRunsDeps): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/runs',
    config: { scope: 'detections:read' },
    schema: {
      tags: ['agents'],
      summary: 'List the runs of a built-in agent, newest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: AgentRunList },
    },
    handler: (request) => getAgentRuns(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/agents/:id/runs/:runId/steps',
    config: { scope: 'detections:read' },
    schema: {
      tags: ['agents'],
      summary: 'List the model steps of a run of a built-in agent, in order',
      params: AgentRunPath,
      querystring: PageQuery,
      response: { 200: StepList },
    },
    handler: (request) => getAgentRunSteps(deps, requireCaller(request), request.params, request.query),
  });
}
