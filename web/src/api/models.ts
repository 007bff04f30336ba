import { queryOptions } from '@tanstack/react-query';
import { api, read } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Model = paths['/api/models']['get']['responses'][200]['content']['application/json']['models'][number];

export const modelsQuery = queryOptions({ queryKey: ['models'], queryFn: () => read(api.GET('/api/models')) });

export type ModelCheck = NonNullable<Model['check']>;

/** Calls the model a few times, which costs money. */
export const checkModel = (alias: string) =>
  read(api.POST('/api/models/{alias}/check', { params: { path: { alias } } }));

/** The use of budgets by each model alias this month. */
export const budgetsQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => read(api.GET('/api/overview')),
});

/** The agents that come with the service. */
export const builtInAgentsQuery = queryOptions({
  queryKey: ['agents', 'built-in'],
  queryFn: () => read(api.GET('/api/agents', { params: { query: { builtIn: true } } })),
});

export type AgentChange = paths['/api/agents/{id}']['put']['requestBody']['content']['application/json'];
export const changeAgent = (agent: Versioned & { id: string }, body: AgentChange) =>
  sendIfMatch(agent, (header) =>
    read(api.PUT('/api/agents/{id}', { params: { path: { id: agent.id }, header }, body })),
  );
