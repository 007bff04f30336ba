import type { Deps } from '../deps.ts';
import { IdPath } from '../detections/input.ts';
import { callerOf, type App } from '../http/route.ts';
import { PageQuery } from '../lib/page.ts';
import { StepList } from '../runs/agent-schema.ts';
import { getAgentRuns, getAgentRunSteps } from './agent-runs.ts';
import { AgentRunList, AgentRunPath } from './schema.ts';

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
