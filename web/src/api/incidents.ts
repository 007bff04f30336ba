import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendVersion } from './versions.ts';

export type Incident = Schemas['Incident'];
export type IncidentDetail = Schemas['IncidentDetail'];
export type IncidentState = Incident['state'];
export type IncidentResolution = NonNullable<Incident['resolution']>;
type Parameters = NonNullable<paths['/api/incidents']['get']['parameters']['query']>;
export type Inbox = NonNullable<Parameters['inbox']>;
export type IncidentFilter = Partial<
  Pick<Parameters, 'state' | 'severity' | 'owner' | 'watcher' | 'inbox' | 'entity' | 'q' | 'sort'>
>;
type Changes = paths['/api/incidents/{id}']['patch']['requestBody']['content']['application/json'];

const pageSize = 100;

export const incidentsQuery = (filter: IncidentFilter) =>
  infiniteQueryOptions({
    queryKey: ['incidents', 'list', filter],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/incidents', {
          params: { query: { ...filter, limit: pageSize, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

export const incidentQuery = (id: string) =>
  queryOptions({
    queryKey: ['incidents', 'one', id],
    queryFn: () => read(api.GET('/api/incidents/{id}', { params: { path: { id } } })),
  });

export type IncidentStory = Schemas['IncidentReport']['story'];
export type StorySentence = IncidentStory['paragraphs'][number]['sentences'][number];

export const incidentReportQuery = (id: string) =>
  queryOptions({
    queryKey: ['incidents', 'one', id, 'report'],
    queryFn: () => read(api.GET('/api/incidents/{id}/report', { params: { path: { id } } })),
  });

/** Addresses of files about an incident. */
export const incidentFiles = (id: string) => ({
  html: `/api/incidents/${id}/report?format=html`,
  markdown: `/api/incidents/${id}/report?format=markdown`,
  bundle: `/api/incidents/${id}/bundle`,
});

export type FoundRow = NonNullable<Schemas['IncidentReport']['timeline'][number]['finding']>;

/** Hits, comments and changes of an incident, latest first. */
export const incidentTimelineQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['incidents', 'one', id, 'timeline'],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/incidents/{id}/timeline', {
          params: { path: { id }, query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

/** Changes an incident. If a colleague was faster, the user decides. */
export const changeIncident = ({ id, revision }: Incident, changes: Changes) =>
  sendVersion(revision, (expectedRevision) =>
    read(api.PATCH('/api/incidents/{id}', { params: { path: { id } }, body: { ...changes, expectedRevision } })),
  );

export const splitIncident = ({ id, revision }: Incident, hitIds: string[]) =>
  sendVersion(revision, (expectedRevision) =>
    read(api.POST('/api/incidents/{id}/split', { params: { path: { id } }, body: { hitIds, expectedRevision } })),
  );

export const mergeIncidents = ({ id, revision }: Incident, incidentIds: string[]) =>
  sendVersion(revision, (expectedRevision) =>
    read(api.POST('/api/incidents/{id}/merge', { params: { path: { id } }, body: { incidentIds, expectedRevision } })),
  );

export const moveIncidentHits = ({ id, revision }: Incident, moved: { add?: string[]; remove?: string[] }) =>
  sendVersion(revision, (expectedRevision) =>
    read(api.POST('/api/incidents/{id}/hits', { params: { path: { id } }, body: { ...moved, expectedRevision } })),
  );

export const openIncident = (hitIds: string[]) => read(api.POST('/api/incidents', { body: { hitIds } }));

export const addIncidentComment = (id: string, body: string) =>
  read(api.POST('/api/incidents/{id}/comments', { params: { path: { id } }, body: { body } }));

/** Numbers of incidents that wait for the person who is signed in. */
export const incidentInboxQuery = queryOptions({
  queryKey: ['incidents', 'inbox'],
  queryFn: () => read(api.GET('/api/incident-inbox')),
});

/** Marks what comments on an incident say to the person who is signed in as read. Returns the new numbers. */
export const readIncidentMentions = (id: string) =>
  read(api.POST('/api/incidents/{id}/read', { params: { path: { id } } }));

/** Makes the person who is signed in watch an incident, or not. */
export const watchIncident = (id: string, watching: boolean) =>
  read(api.POST('/api/incidents/{id}/watch', { params: { path: { id } }, body: { watching } }));

type Bulk = paths['/api/incidents/bulk']['post']['requestBody']['content']['application/json']['incidents'];
export type BulkChange = Bulk[number];
const bulkMax = 100;

/** Changes and watches incidents. Returns what became of each, in the same order. */
export async function changeIncidents(changes: Bulk) {
  const results = [];
  for (let at = 0; at < changes.length; at += bulkMax)
    results.push(
      ...(await read(api.POST('/api/incidents/bulk', { body: { incidents: changes.slice(at, at + bulkMax) } })))
        .results,
    );
  return results;
}
