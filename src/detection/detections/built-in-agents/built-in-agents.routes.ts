import type { ModelAliases } from '../record/check-model-alias.ts';
import { requireCaller, type App } from '../../../platform/http/app-type.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { type AgentDeps, getAgent, refuseDeletion, updateBuiltInAgent } from './built-in-agents.ts';
import { IdPath, UpdateAgent } from '../record/detection-input.schema.ts';
import { getAgents } from '../read-detections.ts';
import { withEtag } from '../detections.routes.ts';
import { AgentList, Detection } from '../record/detection.schema.ts';

const tags = ['agents'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function agentRoutes(app: App, deps: AgentDeps & { models?: ModelAliases }): void {
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
    handler: (request) => getAgents(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/agents/:id',
    config: read,
    schema: { tags, summary: 'Get an agent of any kind', params: IdPath, response: { 200: Detection } },
    handler: async (request, reply) => withEtag(reply, await getAgent(deps, requireCaller(request), request.params.id)),
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
      return withEtag(
        reply,
        await updateBuiltInAgent(deps, requireCaller(request), change, request.headers['if-match']),
      );
    },
  });
  app.route({
    method: 'DELETE',
    url: '/api/agents/:id',
    config: { ...write, ignoresBody: true },
    schema: {
      tags,
      summary: 'Always refused: built-in agents cannot be deleted, and detections have their own endpoint',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: (request) => refuseDeletion(deps, requireCaller(request), request.params.id),
  });
}
