import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { IncidentDetail } from './incidents.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch } from './versions.ts';

export type Hunt = Schemas['Hunt'];
export type HuntRun = Schemas['HuntRun'];
export type HuntFinding = Schemas['HuntFinding'];
export type HuntKind = Hunt['kind'];
export type FindingChange = HuntFinding['change'];
export type NewHunt = NonNullable<paths['/api/hunts']['post']['requestBody']>['content']['application/json'];

export type HuntWords = NonNullable<paths['/api/hunts/propose']['post']['requestBody']>['content']['application/json'];

const waitingMs = 1_000;

export const isUnderWay = (run: Pick<HuntRun, 'state'> | null): boolean =>
  run?.state === 'queued' || run?.state === 'running';

/** The hunts with their last runs, read again while one is under way. */
export const huntsQuery = queryOptions({
  queryKey: ['hunts', 'list'],
  queryFn: () => read(api.GET('/api/hunts')).then(({ hunts }) => hunts),
  refetchInterval: ({ state }) => (state.data?.some(({ lastRun }) => isUnderWay(lastRun)) ? waitingMs : false),
});

/** The latest runs of a hunt. */
export const huntRunsQuery = (id: string, lastRun: Hunt['lastRun']) =>
  queryOptions({
    queryKey: ['hunts', 'runs', id, lastRun?.id, lastRun?.state],
    queryFn: () =>
      read(api.GET('/api/hunts/{id}/runs', { params: { path: { id }, query: { limit: 50 } } })).then(
        ({ runs }) => runs,
      ),
    // Keeps the selection in a run while the newest state of the runs is loaded.
    placeholderData: (before: HuntRun[] | undefined) => before?.filter(({ huntId }) => huntId === id),
  });

export const findingsQuery = (runId: string, change: FindingChange | undefined) =>
  infiniteQueryOptions({
    queryKey: ['hunts', 'findings', runId, change],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/hunt-runs/{id}/findings', {
          params: {
            path: { id: runId },
            query: { limit: 50, ...(change && { change }), ...(pageParam && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

/** Saves a hunt: a new one, or other settings of `existing`. */
export const saveHunt = (hunt: NewHunt, existing: Hunt | undefined) =>
  existing
    ? sendIfMatch(existing, (header) =>
        read(api.PUT('/api/hunts/{id}', { params: { path: { id: existing.id }, header }, body: hunt })),
      )
    : read(api.POST('/api/hunts', { body: hunt }));

/** Lets a model write the query of a hunt from plain words. */
export const proposeHunt = (body: HuntWords) => read(api.POST('/api/hunts/propose', { body }));

export const deleteHunt = (hunt: Hunt) =>
  sendIfMatch(hunt, (header) => read(api.DELETE('/api/hunts/{id}', { params: { path: { id: hunt.id }, header } })));

export const runHunt = (id: string) => read(api.POST('/api/hunts/{id}/run', { params: { path: { id } } }));

/** Adds findings of a run to an incident, or opens one from them. */
export const joinFindings = (
  runId: string,
  findingIds: string[],
  incidentId: string | undefined,
): Promise<IncidentDetail> =>
  read(
    api.POST('/api/hunt-runs/{id}/incident', {
      params: { path: { id: runId } },
      body: { findingIds, ...(incidentId !== undefined && { incidentId }) },
    }),
  );
