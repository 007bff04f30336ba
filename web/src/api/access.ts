import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Key = Schemas['Key'];
export type Session = Schemas['Session'];
export type AuditEntry = Schemas['AuditEntry'];
export type NewKey = paths['/api/keys']['post']['requestBody']['content']['application/json'];
export type Scope = NonNullable<NewKey['scopes']>[number];

const pageSize = 100;

export const keysQuery = infiniteQueryOptions({
  queryKey: ['keys'],
  queryFn: ({ pageParam }) =>
    read(api.GET('/api/keys', { params: { query: { limit: pageSize, ...(pageParam && { cursor: pageParam }) } } })),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

export const createKey = (body: NewKey) => read(api.POST('/api/keys', { body }));
export const revokeKey = (id: string) => read(api.DELETE('/api/keys/{id}', { params: { path: { id } } }));
export const rotateKey = (id: string, overlapSeconds: number) =>
  read(api.POST('/api/keys/{id}/rotate', { params: { path: { id } }, body: { overlapSeconds } }));

export const sessionsQuery = infiniteQueryOptions({
  queryKey: ['sessions'],
  queryFn: ({ pageParam }) =>
    read(api.GET('/api/sessions', { params: { query: { limit: pageSize, ...(pageParam && { cursor: pageParam }) } } })),
  initialPageParam: '',
  staleTime: 0,
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

export const endSession = (id: string) => read(api.DELETE('/api/sessions/{id}', { params: { path: { id } } }));

export type Person = Schemas['Person'];
export type Role = NonNullable<Person['role']>;

export const personsQuery = infiniteQueryOptions({
  queryKey: ['persons'],
  queryFn: ({ pageParam }) =>
    read(api.GET('/api/persons', { params: { query: { limit: pageSize, ...(pageParam && { cursor: pageParam }) } } })),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

/** The roles of people with what they include. */
export const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: async () => (await read(api.GET('/api/roles'))).roles,
  staleTime: Infinity,
});

export const invitePerson = (name: string, role: Role) => read(api.POST('/api/persons', { body: { name, role } }));
export const changePerson = (id: string, body: { role?: Role; disabled?: boolean }) =>
  read(api.PATCH('/api/persons/{id}', { params: { path: { id } }, body }));
export const renewPersonLink = (id: string) => read(api.POST('/api/persons/{id}/link', { params: { path: { id } } }));

export type AuditFilter = Omit<NonNullable<paths['/api/audit']['get']['parameters']['query']>, 'limit' | 'cursor'>;

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/audit', {
          params: { query: { ...filter, limit: pageSize, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    staleTime: 0,
    placeholderData: keepPreviousData,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

export const retentionQuery = queryOptions({
  queryKey: ['retention'],
  queryFn: () => read(api.GET('/api/privacy/retention')),
});

export type Retention = Schemas['OrganizationRetention'];

/** The periods that an organization can choose. */
export const retentionKinds = ['logsDays', 'rowsDays', 'hitsDays', 'runsDays'] as const;

export const changeRetention = (seen: Versioned, body: Retention['own']) =>
  sendIfMatch(seen, (header) => read(api.PUT('/api/privacy/retention', { params: { header }, body })));

export const agentSettingsQuery = queryOptions({
  queryKey: ['agent-settings'],
  queryFn: () => read(api.GET('/api/agent-settings')),
});
export type AgentSettings = Schemas['AgentSettings'];

export const changeAgentSettings = (seen: Versioned, body: Omit<AgentSettings, 'updatedAt'>) =>
  sendIfMatch(seen, (header) => read(api.PUT('/api/agent-settings', { params: { header }, body })));

export const eraseValue = (field: string, value: string) =>
  read(api.POST('/api/privacy/erase', { body: { field, value } }));
