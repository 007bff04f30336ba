import type { Deps } from '../deps.ts';
import { IdPath } from '../detections/input.ts';
import { callerOf, type App } from '../http/route.ts';
import { PageQuery } from '../lib/page.ts';
import { getAgentRuns } from './agent-runs.ts';
import { AgentRunList } from './schema.ts';

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
}
