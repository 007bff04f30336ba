import type { ModelAliases } from '../detections/record/build-detection.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { type AgentDeps, getAgent, updateAgent } from '../detections/built-in-agents.ts';
import { deleteAgent, restoreAgent } from '../detections/life-cycle.ts';
import { AgentQuery, CreateAgent, IdPath, UpdateAgent } from '../detections/record/detection-input.schema.ts';
import { getAgents } from '../detections/read-detections.ts';
import { AgentList, Detection } from '../detections/record/detection.schema.ts';
import { createResponseAgent } from './response-agents.ts';
import {
  AgentSchedule,
  AgentTrigger,
  AgentTriggerList,
  CreateTrigger,
  SetSchedule,
  TriggerPath,
  UpdateTrigger,
} from '../detections/triggers/agent-triggers.schema.ts';
import { AddShippedAgent, ShippedAgentList, ShippedAgentUpdate, ShippedPath } from './shipped-agents.schema.ts';
import { addShippedAgent, listShippedAgents, updateShippedAgent } from './shipped-agents.ts';
import {
  changeTrigger,
  createTrigger,
  getSchedule,
  getTriggers,
  removeTrigger,
  setSchedule,
  type TriggerDeps,
} from './agent-triggers.ts';

export function agentRoutes(app: App, deps: AgentDeps & TriggerDeps & { models?: ModelAliases }): void {
  const route = apiRoutes(app, { tag: 'agents', scope: 'detections:write' });
  const versioned = { params: IdPath, returns: Detection, hasEtag: true, acceptsIfMatch: true } as const;
  route(
    'GET /api/agents',
    {
      operationId: 'listAgents',
      summary: 'List every agent, built-in ones included',
      scope: 'detections:read',
      query: AgentQuery,
      returns: AgentList,
    },
    ({ caller, query }) => getAgents(deps, caller, query),
  );
  route(
    'POST /api/agents',
    {
      operationId: 'createAgent',
      summary: 'Create a response agent',
      description:
        'It investigates what a trigger, a schedule or a person gives it. Detections have their own endpoint.',
      body: CreateAgent,
      returns: Detection,
      hasEtag: true,
    },
    ({ caller, body }) => createResponseAgent(deps, caller, body),
  );
  route(
    'GET /api/agents/:id',
    {
      operationId: 'getAgent',
      summary: 'Get an agent of any kind, deleted or not',
      scope: 'detections:read',
      params: IdPath,
      returns: Detection,
      hasEtag: true,
    },
    ({ caller, params }) => getAgent(deps, caller, params.id),
  );
  route(
    'PUT /api/agents/:id',
    {
      operationId: 'updateAgent',
      summary: 'Change a response agent. Absent fields are unchanged',
      description: 'Of a built-in agent, only the schedule, `enabled`, the model alias and the budgets can be changed.',
      ...versioned,
      body: UpdateAgent,
    },
    ({ caller, params, body, ifMatch }) => updateAgent(deps, caller, { id: params.id, input: body }, ifMatch),
  );
  route(
    'DELETE /api/agents/:id',
    { operationId: 'deleteAgent', summary: 'Delete a response agent. It can be restored', ...versioned },
    ({ caller, params, ifMatch }) => deleteAgent(deps, caller, params.id, ifMatch),
  );
  route(
    'POST /api/agents/:id/restore',
    { operationId: 'restoreAgent', summary: 'Restore a deleted response agent', ...versioned },
    ({ caller, params, ifMatch }) => restoreAgent(deps, caller, params.id, ifMatch),
  );
  shippedRoutes(app, deps);
  triggerRoutes(app, deps);
}

function shippedRoutes(app: App, deps: TriggerDeps & { models?: ModelAliases }): void {
  const route = apiRoutes(app, { tag: 'agents', scope: 'detections:write' });
  route(
    'GET /api/shipped-agents',
    {
      operationId: 'listShippedAgents',
      summary: 'List the response agents that ship with the service',
      description: 'None of them does anything until you add it.',
      scope: 'detections:read',
      returns: ShippedAgentList,
    },
    ({ caller }) => listShippedAgents(deps, caller),
  );
  route(
    'POST /api/shipped-agents/:name',
    {
      operationId: 'addShippedAgent',
      summary: 'Add a shipped response agent, which then runs for new hits',
      isBodyOptional: true,
      params: ShippedPath,
      body: AddShippedAgent,
      returns: Detection,
      hasEtag: true,
    },
    ({ caller, params, body }) => addShippedAgent(deps, caller, params.name, body),
  );
  route(
    'POST /api/shipped-agents/:name/update',
    {
      operationId: 'updateShippedAgent',
      summary: 'Update an added agent to the shipped version',
      description: 'Fields that you edited keep your value and are reported. Its triggers stay as they are.',
      params: ShippedPath,
      returns: ShippedAgentUpdate,
    },
    ({ caller, params }) => updateShippedAgent(deps, caller, params.name),
  );
}

function triggerRoutes(app: App, deps: TriggerDeps): void {
  const route = apiRoutes(app, { tag: 'agents', scope: 'detections:write' });
  const schedule = { params: IdPath, returns: AgentSchedule, hasEtag: true };
  route(
    'GET /api/agents/:id/schedule',
    {
      operationId: 'getAgentSchedule',
      ...schedule,
      summary: 'Get the input values of the scheduled runs of a response agent',
      scope: 'detections:read',
    },
    ({ caller, params }) => getSchedule(deps, caller, params.id),
  );
  route(
    'PUT /api/agents/:id/schedule',
    {
      operationId: 'setAgentSchedule',
      ...schedule,
      summary: 'Set the input values of the scheduled runs of a response agent',
      description: 'The times and `enabled` are fields of the agent.',
      acceptsIfMatch: true,
      body: SetSchedule,
    },
    ({ caller, params, body, ifMatch }) => setSchedule(deps, caller, { id: params.id, ifMatch }, body),
  );
  route(
    'GET /api/agents/:id/triggers',
    {
      operationId: 'listAgentTriggers',
      summary: 'List the triggers of a response agent besides its schedule',
      scope: 'detections:read',
      params: IdPath,
      returns: AgentTriggerList,
    },
    ({ caller, params }) => getTriggers(deps, caller, params.id),
  );
  route(
    'POST /api/agents/:id/triggers',
    {
      operationId: 'createAgentTrigger',
      summary: 'Add a trigger to a response agent',
      params: IdPath,
      body: CreateTrigger,
      returns: AgentTrigger,
      hasEtag: true,
    },
    ({ caller, params, body }) => createTrigger(deps, caller, params.id, body),
  );
  route(
    'PUT /api/agents/:id/triggers/:triggerId',
    {
      operationId: 'updateAgentTrigger',
      summary: 'Change a trigger. Absent fields are unchanged',
      params: TriggerPath,
      acceptsIfMatch: true,
      body: UpdateTrigger,
      returns: AgentTrigger,
      hasEtag: true,
    },
    ({ caller, params, body, ifMatch }) => changeTrigger(deps, caller, { ...params, ifMatch }, body),
  );
  route(
    'DELETE /api/agents/:id/triggers/:triggerId',
    {
      operationId: 'deleteAgentTrigger',
      summary: 'Delete a trigger. Its runs stay',
      params: TriggerPath,
      returns: AgentTriggerList,
    },
    ({ caller, params: { id, triggerId } }) => removeTrigger(deps, caller, { id, triggerId }),
  );
}
