import type { ModelAliases } from './record/build-detection.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { type AgentDeps, getAgent, refuseDeletion, updateBuiltInAgent } from './built-in-agents.ts';
import { AgentQuery, IdPath, UpdateAgent } from './record/detection-input.schema.ts';
import { getAgents } from './read-detections.ts';
import { AgentList, Detection } from './record/detection.schema.ts';

export function agentRoutes(app: App, deps: AgentDeps & { models?: ModelAliases }): void {
  const route = apiRoutes(app, { tag: 'agents', scope: 'detections:read' });
  route(
    'GET /api/agents',
    {
      operationId: 'listAgents',
      summary: 'List every agent, built-in ones included',
      query: AgentQuery,
      returns: AgentList,
    },
    ({ caller, query }) => getAgents(deps, caller, query),
  );
  route(
    'GET /api/agents/:id',
    { operationId: 'getAgent', summary: 'Get an agent of any kind', params: IdPath, returns: Detection, hasEtag: true },
    ({ caller, params }) => getAgent(deps, caller, params.id),
  );
  route(
    'PUT /api/agents/:id',
    {
      operationId: 'updateAgent',
      summary: 'Change schedule, enabled, model and budgets of a built-in agent',
      scope: 'detections:write',
      params: IdPath,
      body: UpdateAgent,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, request }) => {
      const change = { id: params.id, input: body };
      return updateBuiltInAgent(deps, caller, change, request.headers['if-match']);
    },
  );
  route(
    'DELETE /api/agents/:id',
    {
      operationId: 'deleteAgent',
      summary: 'Always refused: built-in agents cannot be deleted, and detections have their own endpoint',
      scope: 'detections:write',
      ignoresBody: true,
      params: IdPath,
      returns: Detection,
    },
    ({ caller, params }) => refuseDeletion(deps, caller, params.id),
  );
}
