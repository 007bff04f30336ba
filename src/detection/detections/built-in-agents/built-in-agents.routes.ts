import type { Deps } from '../../../app/deps.ts';
import { callerOf, type App } from '../../../platform/http/app-type.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { getAgent, refuseDeletion, updateBuiltInAgent } from './built-in-agents.ts';
import { IdPath, UpdateAgent } from '../record/detection-input.ts';
import { getAgents } from '../read-detections.ts';
import { withEtag } from '../detections.routes.ts';
import { AgentList, Detection } from '../record/detection.schema.ts';

const tags = ['agents'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function agentRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/agents',
    config: read,
    schema: {
      tags,
      summary: 'List every agent, built-in ones included',
      querystring: PageQuery,
      response: { 200: AgentList },
    },
    handler: (request) => getAgents(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/agents/:id',
    config: read,
    schema: { tags, summary: 'One agent of any kind', params: IdPath, response: { 200: Detection } },
    handler: async (request, reply) => withEtag(reply, await getAgent(deps, callerOf(request), request.params.id)),
  });
  app.route({
    method: 'PUT',
    url: '/api/agents/:id',
    config: write,
    schema: {
      tags,
      summary: 'Change schedule, enabled, model and budgets of a built-in agent',
      params: IdPath,
      body: UpdateAgent,
      response: { 200: Detection },
    },
    handler: async (request, reply) => {
      const change = { id: request.params.id, input: request.body };
      return withEtag(reply, await updateBuiltInAgent(deps, callerOf(request), change, request.headers['if-match']));
    },
  });
  app.route({
    method: 'DELETE',
    url: '/api/agents/:id',
    config: { ...write, noBody: true },
    schema: {
      tags,
      summary: 'Always refused: built-in agents stay, detections have an address of their own',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: (request) => refuseDeletion(deps, callerOf(request), request.params.id),
  });
}
