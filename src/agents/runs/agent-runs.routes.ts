import type { Deps } from '../../app/deps.ts';
import { IdPath } from '../../detection/detections/record/detection-input.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { StepList } from '../../detection/runs/run-details.schema.ts';
import { getAgentRuns, getAgentRunSteps } from './read-agent-runs.ts';
import { AgentRunList, AgentRunPath } from './agent-runs.schema.ts';

export function agentRunRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/runs',
    config: { scope: 'detections:read' },
    schema: {
      tags: ['agents'],
      summary: 'What a built-in agent did, newest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: AgentRunList },
    },
    handler: (request) => getAgentRuns(deps, callerOf(request), request.params.id, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/agents/:id/runs/:runId/steps',
    config: { scope: 'detections:read' },
    schema: {
      tags: ['agents'],
      summary: "What a built-in agent's model was asked and answered in a run, in order",
      params: AgentRunPath,
      querystring: PageQuery,
      response: { 200: StepList },
    },
    handler: (request) => getAgentRunSteps(deps, callerOf(request), request.params, request.query),
  });
}
