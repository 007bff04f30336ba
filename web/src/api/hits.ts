import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendVersion } from './versions.ts';

export type Hit = Schemas['Hit'];
export type HitStatus = Hit['status'];
export type HitDetail = Awaited<ReturnType<typeof getHit>>;
/** A sentence of a verdict, and what a verdict cites. */
export type Claim = Hit['claims'][number];
export type CitedValue = Hit['evidence'][number];
export type Observation = Schemas['Observation'];
type HitParameters = NonNullable<paths['/api/hits']['get']['parameters']['query']>;
export type HitFilter = Partial<
  Pick<HitParameters, 'status' | 'severity' | 'verdict' | 'detection' | 'entity' | 'value' | 'q' | 'group' | 'incident'>
>;

const pageSize = 100;

const getHit = (id: string) => read(api.GET('/api/hits/{id}', { params: { path: { id } } }));

export const hitsQuery = (filter: HitFilter) =>
  infiniteQueryOptions({
    queryKey: ['hits', 'list', filter],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/hits', {
          params: { query: { ...filter, limit: pageSize, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

export const hitQuery = (id: string) => queryOptions({ queryKey: ['hits', 'one', id], queryFn: () => getHit(id) });

/** What the verdict on a hit cites: the rows of the detection's query and the observations of the investigation. */
export const hitEvidenceQuery = (id: string) =>
  queryOptions({
    queryKey: ['hits', 'one', id, 'evidence'],
    queryFn: () => read(api.GET('/api/hits/{id}/evidence', { params: { path: { id } } })),
  });

type Decision = { status: HitStatus; reason: string };
const toVerdict = ({ status, reason }: Decision, expectedRevision: number) => ({
  status,
  ...(reason !== '' && { reason }),
  expectedRevision,
});

/** Throws a problem with `stale` if the hit changed since `revision`. */
export const setHitStatus = ({ id, revision }: Pick<Hit, 'id' | 'revision'>, decision: Decision) =>
  read(api.POST('/api/hits/{id}/status', { params: { path: { id } }, body: toVerdict(decision, revision) }));

/** Sets the status of every hit of a wave with one request. */
export const setGroupStatus = ({ id, revision: seen }: { id: string; revision: number }, decision: Decision) =>
  sendVersion(seen, (revision) =>
    read(api.POST('/api/hit-groups/{id}/status', { params: { path: { id } }, body: toVerdict(decision, revision) })),
  );

/** Undoes a change of the status of a wave. */
export const undoGroupStatus = (id: string, change: string) =>
  read(api.POST('/api/hit-groups/{id}/undo', { params: { path: { id } }, body: { change } }));

export const hitGroupQuery = (id: string) =>
  queryOptions({
    queryKey: ['hits', 'groups', 'one', id],
    queryFn: () => read(api.GET('/api/hit-groups/{id}', { params: { path: { id } } })),
  });

export type HitContext = Schemas['HitContext'];

/** The context of a hit: other hits of the entity, judged similar ones, feed items and the timeline. */
export const hitContextQuery = (id: string) =>
  queryOptions({
    queryKey: ['hits', 'one', id, 'context'],
    queryFn: () => read(api.GET('/api/hits/{id}/context', { params: { path: { id } } })),
  });

type GroupFilter = Pick<HitFilter, 'status' | 'detection'>;
const toPage = ({ status, detection }: GroupFilter, cursor: string) => ({
  params: {
    query: { limit: pageSize, ...(status && { status }), ...(detection && { detection }), ...(cursor && { cursor }) },
  },
});

/** Waves: the hits that one detection raised in one window. */
export const hitGroupsQuery = (filter: GroupFilter) =>
  infiniteQueryOptions({
    queryKey: ['hits', 'groups', 'waves', filter],
    queryFn: ({ pageParam }) => read(api.GET('/api/hit-groups', toPage(filter, pageParam))),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

/** The entities of hits. */
export const hitEntitiesQuery = (filter: GroupFilter) =>
  infiniteQueryOptions({
    queryKey: ['hits', 'groups', 'entities', filter],
    queryFn: ({ pageParam }) => read(api.GET('/api/entities', toPage(filter, pageParam))),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

export type EntityProfile = Schemas['EntityProfile'];
export type EntityPath = Pick<EntityProfile, 'type' | 'name'>;

/** An entity under any of its names, with everything that is known of it. */
export const entityProfileQuery = (path: EntityPath) =>
  queryOptions({
    queryKey: ['hits', 'profile', path.type, path.name],
    queryFn: () => read(api.GET('/api/entities/{type}/{name}', { params: { path } })),
  });

export type Alias = { alias: string; aliasType: EntityPath['type'] };

export const joinAlias = (path: EntityPath, { alias, aliasType, reason }: Alias & { reason: string }) =>
  read(
    api.POST('/api/entities/{type}/{name}/aliases', {
      params: { path },
      body: { alias, aliasType, ...(reason !== '' && { reason }) },
    }),
  );

export const separateAlias = (path: EntityPath, { alias, aliasType }: Alias) =>
  read(
    api.DELETE('/api/entities/{type}/{name}/aliases/{alias}', {
      params: { path: { ...path, alias }, query: { aliasType } },
    }),
  );

/** The latest hits with a value as their entity or in their rows. */
export const valueHitsQuery = (value: string) =>
  queryOptions({
    queryKey: ['hits', 'value', value],
    queryFn: () => read(api.GET('/api/hits', { params: { query: { value, limit: 20 } } })),
  });

/** The latest open hits of a detection. */
export const openHitsQuery = (detection: string) =>
  queryOptions({
    queryKey: ['hits', 'open', detection],
    queryFn: () => read(api.GET('/api/hits', { params: { query: { detection, status: 'open', limit: 6 } } })),
  });

export type HitComment = Schemas['HitComment'];
/** What people and response agents say about a hit, newest first. */
export const hitCommentsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['hits', 'comments', id],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/hits/{id}/comments', {
          params: { path: { id }, query: { limit: 20, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
export const addComment = (id: string, body: string) =>
  read(api.POST('/api/hits/{id}/comments', { params: { path: { id } }, body: { body } }));
