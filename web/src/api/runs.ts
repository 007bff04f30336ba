import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';

export type Run = Schemas['Run'];
export type Verdict = Run['entities'][number];
export type RunStep = Awaited<ReturnType<typeof getSteps>>['steps'][number];
export type Replay = Awaited<ReturnType<typeof replayRun>>;

/** Returns whether a response agent ran, which is then the run's `detectionId`. */
export const isResponse = ({ trigger }: Pick<Run, 'trigger'>): boolean =>
  trigger === 'response' || trigger === 'request';

export const isUnfinished = (run: Pick<Run, 'status'> | undefined): boolean =>
  run?.status === 'queued' || run?.status === 'running';
const pollMs = 3_000;

export const runsQuery = (detectionId: string) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'list', detectionId],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/detections/{id}/runs', {
          params: { path: { id: detectionId }, query: { limit: 100, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state }) => (state.data?.pages[0]?.runs.some(isUnfinished) ? pollMs : false),
  });

/** A run, asked for again while it is queued or running. */
export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: () => read(api.GET('/api/runs/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (isUnfinished(state.data) ? pollMs : false),
  });

const getSteps = (id: string, cursor: string) =>
  read(api.GET('/api/runs/{id}/steps', { params: { path: { id }, query: { limit: 100, ...(cursor && { cursor }) } } }));

export const runStepsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'steps', id],
    queryFn: ({ pageParam }) => getSteps(id, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

export const cancelRun = (id: string) => read(api.POST('/api/runs/{id}/cancel', { params: { path: { id } } }));

type ReplayInput = { promptVersion?: number; modelAlias?: string };
export const replayRun = (id: string, body: ReplayInput) =>
  read(api.POST('/api/runs/{id}/replay', { params: { path: { id } }, body }));
