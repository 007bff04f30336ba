import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { Detection } from './detections.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

const path = (id: string) => ({ params: { path: { id } } });
type BodyOf<Operation> = Operation extends { requestBody?: { content: { 'application/json': infer Body } } }
  ? Body
  : never;

/** A response agent has the record of a detection. */
export type Agent = Detection;
export type NewAgent = BodyOf<paths['/api/agents']['post']>;
export type AgentChanges = BodyOf<paths['/api/agents/{id}']['put']>;

const pageSize = 200;
const agentsMax = 10;

/** The response agents of the organization and those that come with the service, at most 2,000. */
export const agentsQuery = queryOptions({
  queryKey: ['agents', 'response'],
  queryFn: async () => {
    const agents: Agent[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < agentsMax; pages++) {
      const query = { type: 'response' as const, limit: pageSize, ...(cursor && { cursor }) };
      const page: { agents: Agent[]; nextCursor: string | null } = await read(
        api.GET('/api/agents', { params: { query } }),
      );
      agents.push(...page.agents);
      cursor = page.nextCursor;
    }
    return agents;
  },
});

/** An agent of any kind: also a detection. */
export const agentQuery = (id: string) =>
  queryOptions({ queryKey: ['agents', 'one', id], queryFn: () => read(api.GET('/api/agents/{id}', path(id))) });

/** The agents that come with the service. */
export const builtInAgentsQuery = queryOptions({
  queryKey: ['agents', 'built-in'],
  queryFn: () => read(api.GET('/api/agents', { params: { query: { builtIn: true } } })),
});

const getShipped = async () => (await read(api.GET('/api/shipped-agents'))).agents;

/** The response agents that ship with the service and can be added. */
export const shippedAgentsQuery = queryOptions({ queryKey: ['agents', 'shipped'], queryFn: () => getShipped() });
export type ShippedAgent = Awaited<ReturnType<typeof getShipped>>[number];
type AddShipped = BodyOf<paths['/api/shipped-agents/{name}']['post']>;
export const addShippedAgent = (name: string, body: AddShipped) =>
  read(api.POST('/api/shipped-agents/{name}', { params: { path: { name } }, body }));
/** Brings an added agent to the shipped version. What the organization edited stays. */
export const updateShippedAgent = (name: string) =>
  read(api.POST('/api/shipped-agents/{name}/update', { params: { path: { name } } }));

export const createAgent = (body: NewAgent) => read(api.POST('/api/agents', { body }));
export const changeAgent = (agent: Versioned & { id: string }, body: AgentChanges) =>
  sendIfMatch(agent, (header) =>
    read(api.PUT('/api/agents/{id}', { params: { path: { id: agent.id }, header }, body })),
  );
export const deleteAgent = (id: string) => read(api.DELETE('/api/agents/{id}', path(id)));
export const restoreAgent = (id: string) => read(api.POST('/api/agents/{id}/restore', path(id)));

type AgentRequest = BodyOf<paths['/api/agents/{id}/run']['post']>;
export type InputValues = NonNullable<AgentRequest['inputs']>;
export const runAgent = (id: string, body: AgentRequest) =>
  read(api.POST('/api/agents/{id}/run', { ...path(id), body }));

export type AgentRun = Schemas['AgentRun'];
const runningMs = 3_000;

/** The runs of an agent, asked for again while one is queued or running. */
export const agentRunsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'list', id],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/agents/{id}/runs', {
          params: { path: { id }, query: { limit: 100, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.runs.some(({ status }) => status === 'queued' || status === 'running') ? runningMs : false,
  });

export type Trigger = Schemas['AgentTrigger'];
export type NewTrigger = BodyOf<paths['/api/agents/{id}/triggers']['post']>;
export type TriggerChanges = BodyOf<paths['/api/agents/{id}/triggers/{triggerId}']['put']>;
export const triggersQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'triggers', id],
    queryFn: async () => (await read(api.GET('/api/agents/{id}/triggers', path(id)))).triggers,
  });
export const createTrigger = (id: string, body: NewTrigger) =>
  read(api.POST('/api/agents/{id}/triggers', { ...path(id), body }));
export const changeTrigger = (trigger: Trigger, body: TriggerChanges) =>
  sendIfMatch(trigger, (header) =>
    read(
      api.PUT('/api/agents/{id}/triggers/{triggerId}', {
        params: { path: { id: trigger.agentId, triggerId: trigger.id }, header },
        body,
      }),
    ),
  );
export const deleteTrigger = ({ agentId: id, id: triggerId }: Trigger) =>
  read(api.DELETE('/api/agents/{id}/triggers/{triggerId}', { params: { path: { id, triggerId } } }));

export type AgentCall = Schemas['AgentCall'];
export type CallState = AgentCall['state'];
export type CallFilter = { state?: CallState | undefined; hitId?: string | undefined; agentId?: string | undefined };

/** What agents propose and people decide, newest first. */
export const callsQuery = (filter: CallFilter) =>
  infiniteQueryOptions({
    queryKey: ['agents', 'calls', filter],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/agent-calls', {
          params: { query: { ...filter, limit: 100, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
/** Approves a call for the arguments that the user saw, and no others. */
export const approveCall = ({ id, inputHash }: AgentCall) =>
  read(api.POST('/api/agent-calls/{id}/approve', { ...path(id), body: { inputHash } }));
export const declineCall = ({ id }: AgentCall) => read(api.POST('/api/agent-calls/{id}/decline', path(id)));
