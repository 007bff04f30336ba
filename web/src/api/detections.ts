import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { askAboutConflict, sendIfMatch, type Versioned } from './versions.ts';

export type DetectionSummary = Schemas['DetectionSummary'];
export type DetectionHealth = DetectionSummary['health'];
export type DetectionCategory = NonNullable<DetectionSummary['category']>;
type SummaryParameters = NonNullable<paths['/api/detections/summaries']['get']['parameters']['query']>;
export type DetectionFilter = Partial<
  Pick<SummaryParameters, 'q' | 'health' | 'category' | 'tag' | 'siemType' | 'sort'>
> & {
  /** As in the address of the page. */
  enabled?: 'true' | 'false' | undefined;
};
export type DetectionSort = NonNullable<SummaryParameters['sort']>;

export const summariesQuery = ({ enabled, ...filter }: DetectionFilter) =>
  infiniteQueryOptions({
    queryKey: ['detections', 'summaries', filter, enabled],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/detections/summaries', {
          params: {
            query: {
              ...filter,
              ...(enabled && { enabled: enabled === 'true' }),
              limit: 200,
              ...(pageParam && { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export type Detection = Schemas['Detection'];

const path = (id: string) => ({ params: { path: { id } } });

export const detectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'one', id],
    queryFn: () => read(api.GET('/api/detections/{id}', path(id))),
  });

const continuousMs = 5000;

export const continuousQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'continuous', id],
    queryFn: () => read(api.GET('/api/detections/{id}/continuous', path(id))),
    refetchInterval: continuousMs,
  });

export type DetectionDays = paths['/api/detections/{id}/days']['get']['responses'][200]['content']['application/json'];

export const detectionDaysQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'days', id],
    queryFn: () => read(api.GET('/api/detections/{id}/days', path(id))),
  });

export const detectionWindowsQuery = (id: string, days: number) =>
  queryOptions({
    queryKey: ['detections', 'windows', id, days],
    queryFn: () => {
      const from = new Date(Date.now() - days * 86_400_000).toISOString();
      return read(api.GET('/api/detections/{id}/windows', { params: { path: { id }, query: { from } } }));
    },
  });

export type TimelineWindow = Awaited<
  ReturnType<NonNullable<ReturnType<typeof detectionWindowsQuery>['queryFn']>>
>['windows'][number];

export type DetectionChanges = NonNullable<
  paths['/api/detections/{id}']['put']['requestBody']
>['content']['application/json'];
export type NewDetection = NonNullable<paths['/api/detections']['post']['requestBody']>['content']['application/json'];

export type GeneratedDetection = Schemas['GeneratedDetection'];
export type TestCase = GeneratedDetection['tests'][number];

/** Stores a detection, and its tests if there are any. */
export async function createDetection(body: NewDetection, tests: TestCase[] = []) {
  const created = await read(api.POST('/api/detections', { body }));
  if (tests.length > 0) await read(api.PUT('/api/detections/{id}/tests', { ...path(created.id), body: { tests } }));
  return created;
}
export const generateDetection = (body: { intent: string; siemType?: string }) =>
  read(api.POST('/api/detections/generate', { body }));

/** Installs a shipped detection unless it is installed already, and returns the ID of the detection. */
export async function installShipped(id: string): Promise<string> {
  const { results } = await read(api.POST('/api/detections/library/install', { body: { ids: [id] } }));
  const [result] = results;
  if (!result?.detectionId) throw new Error(result?.detail ?? id);
  return result.detectionId;
}
export const changeDetection = (detection: Versioned & { id: string }, body: DetectionChanges) =>
  sendIfMatch(detection, (header) =>
    read(api.PUT('/api/detections/{id}', { params: { path: { id: detection.id }, header }, body })),
  );
export const deleteDetection = (id: string) => read(api.DELETE('/api/detections/{id}', path(id)));
export const restoreDetection = (id: string) => read(api.POST('/api/detections/{id}/restore', path(id)));
export const runDetection = (id: string) => read(api.POST('/api/detections/{id}/run', { ...path(id), body: {} }));

type BulkAction = 'enable' | 'disable' | 'delete';

/**
 * Changes many detections at once and returns an outcome for each. `ifMatch` has the versions that the user saw, by ID. Asks once about all detections
 * that others changed since. Those that the user keeps as they are have `stale`.
 */
export async function changeDetections(action: BulkAction, ids: string[], ifMatch: Record<string, string>) {
  const { results } = await read(api.POST('/api/detections/bulk', { body: { action, ids, ifMatch } }));
  const stale = results.flatMap(({ id, name, stale: problem }) => (id && problem ? [{ id, name, ...problem }] : []));
  const changes = stale.flatMap((one) => one.changes.map((change) => ({ ...change, subject: one.name })));
  if (stale.length === 0 || !(await askAboutConflict(changes))) return results;
  const current = Object.fromEntries(stale.map((one) => [one.id, String(one.current)]));
  const again: typeof results = await changeDetections(action, Object.keys(current), current);
  return results.map((result) => again.find(({ id }) => id === result.id) ?? result);
}

type Range = { from: string; to: string };
export const estimateBackfill = (id: string, body: Range) =>
  read(api.POST('/api/detections/{id}/backfill', { params: { path: { id }, query: { estimate: true } }, body }));
export const startBackfill = (id: string, body: Range) =>
  read(api.POST('/api/detections/{id}/backfill', { ...path(id), body }));
