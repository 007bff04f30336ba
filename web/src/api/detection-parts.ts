import { queryOptions } from '@tanstack/react-query';
import { api, read, readTagged, type Schemas } from './client.ts';
import type { NewDetection } from './detections.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, sendVersion, type Versioned } from './versions.ts';

const path = (id: string) => ({ params: { path: { id } } });

export type DetectionPack = Schemas['DetectionPack'];
export const detectionPackQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'pack', id],
    queryFn: () => read(api.GET('/api/detections/{id}/pack', path(id))),
  });

export const promptsQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'prompts', id],
    queryFn: () => read(api.GET('/api/detections/{id}/prompts', { params: { path: { id }, query: { limit: 200 } } })),
  });
export const promptDiffQuery = (id: string, from: number, to: number) =>
  queryOptions({
    queryKey: ['detections', 'prompts', id, from, to],
    queryFn: () =>
      read(
        api.GET('/api/detections/{id}/prompts/diff', {
          params: { path: { id }, query: { from, to } },
        }),
      ),
  });
export const createPrompt = (id: string, body: { prompt: string; description?: string }) =>
  read(api.POST('/api/detections/{id}/prompts', { ...path(id), body }));
export const activatePrompt = (detection: Versioned & { id: string }, version: number) =>
  sendIfMatch(detection, (header) =>
    read(
      api.POST('/api/detections/{id}/prompts/{version}/activate', {
        params: { path: { id: detection.id, version }, header },
      }),
    ),
  );

export const revisionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'revisions', id],
    queryFn: () => read(api.GET('/api/detections/{id}/revisions', { params: { path: { id }, query: { limit: 200 } } })),
  });
export const revisionDiffQuery = (id: string, from: number, to: number) =>
  queryOptions({
    queryKey: ['detections', 'revisions', id, from, to],
    queryFn: () =>
      read(api.GET('/api/detections/{id}/revisions/diff', { params: { path: { id }, query: { from, to } } })),
  });
/** Stores the definition of an older revision as a new one. */
export const restoreRevision = (detection: Versioned & { id: string }, revision: number) =>
  sendIfMatch(detection, (header) =>
    read(
      api.POST('/api/detections/{id}/revisions/{revision}/restore', {
        params: { path: { id: detection.id, revision }, header },
      }),
    ),
  );

export type TestSet = Schemas['TestSet'];
type TestSetInput = NonNullable<
  paths['/api/detections/{id}/tests']['put']['requestBody']
>['content']['application/json'];
export const dismissalsQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'dismissals', id],
    queryFn: () => read(api.GET('/api/detections/{id}/dismissals', path(id))),
  });

export const testsQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'tests', id],
    queryFn: () => readTagged(api.GET('/api/detections/{id}/tests', path(id))),
  });
export const saveTests = (id: string, seen: Versioned, body: TestSetInput) =>
  sendIfMatch(seen, (header) =>
    read(api.PUT('/api/detections/{id}/tests', { params: { path: { id }, header }, body })),
  );
export const runTests = (id: string) => read(api.POST('/api/detections/{id}/tests/run', path(id)));

export type Exception = Schemas['Exception'];
export const exceptionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['detections', 'exceptions', id],
    queryFn: () =>
      read(api.GET('/api/detections/{id}/exceptions', { params: { path: { id }, query: { limit: 200 } } })),
  });
export type ExceptionInput = NonNullable<
  paths['/api/detections/{id}/exceptions']['post']['requestBody']
>['content']['application/json'];
export const createException = (id: string, body: ExceptionInput) =>
  read(api.POST('/api/detections/{id}/exceptions', { ...path(id), body }));
export type ExceptionSubject = Pick<ExceptionInput, 'entity' | 'field' | 'value' | 'list' | 'conditions'>;
export type ExceptionPreview = Schemas['ExceptionPreview'];
/** The hits of the last 30 days that an exception would have hidden. */
export const exceptionPreviewQuery = (id: string, subject: ExceptionSubject) =>
  queryOptions({
    queryKey: ['detections', 'exception-preview', id, subject],
    queryFn: () => read(api.POST('/api/detections/{id}/exceptions/preview', { ...path(id), body: subject })),
  });
export type ExceptionProposal = Schemas['ExceptionProposals']['proposals'][number];
/** Exceptions for hits, or for the false positives that are most alike, with proof of what they hide and keep. */
export const exceptionProposalsQuery = (id: string, hitIds?: readonly string[]) =>
  queryOptions({
    queryKey: ['detections', 'exception-proposals', id, hitIds ?? null],
    queryFn: () =>
      read(
        api.POST('/api/detections/{id}/exceptions/proposals', {
          ...path(id),
          body: hitIds === undefined ? {} : { hitIds: [...hitIds] },
        }),
      ),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
export const endException = (id: string, exceptionId: string) =>
  read(api.DELETE('/api/detections/{id}/exceptions/{exceptionId}', { params: { path: { id, exceptionId } } }));

export type PreviewInput = NonNullable<
  paths['/api/detections/preview']['post']['requestBody']
>['content']['application/json'];
export type Preview = Awaited<ReturnType<typeof previewDetection>>;
export const previewDetection = (body: PreviewInput, signal: AbortSignal) =>
  read(api.POST('/api/detections/preview', { body, signal }));

export type CostEstimate = Schemas['CostEstimate'];
export const estimateNewDetection = (body: NewDetection) => read(api.POST('/api/detections/estimate', { body }));
export const estimateDetection = (id: string) =>
  read(api.POST('/api/detections/{id}/estimate', { params: { path: { id } } }));

const loadTools = async () => (await read(api.GET('/api/tools'))).tools;
export const toolsQuery = queryOptions({ queryKey: ['tools'], queryFn: loadTools });
export type Tool = Awaited<ReturnType<typeof loadTools>>[number];
export type Category = Schemas['CategoryList']['categories'][number];
export const categoriesQuery = queryOptions({
  queryKey: ['categories'],
  queryFn: async () => (await read(api.GET('/api/categories'))).categories,
  staleTime: Infinity,
});
export const valueListsQuery = queryOptions({
  queryKey: ['value-lists'],
  queryFn: async () => (await read(api.GET('/api/value-lists'))).lists,
});
export type ValueList = Schemas['ValueList'];
export const valueListQuery = (name: string) =>
  queryOptions({
    queryKey: ['value-lists', name],
    queryFn: () => read(api.GET('/api/value-lists/{name}', { params: { path: { name } } })),
    staleTime: 0,
    gcTime: 0,
  });
export type ValueListInput = Omit<
  paths['/api/value-lists/{name}']['put']['requestBody']['content']['application/json'],
  'expectedRevision'
>;
/** Creates a list, or replaces the one that the user saw. */
export const saveValueList = (name: string, seen: ValueList | undefined, body: ValueListInput) =>
  sendVersion(seen?.revision ?? 0, (expectedRevision) =>
    read(api.PUT('/api/value-lists/{name}', { params: { path: { name } }, body: { ...body, expectedRevision } })),
  );
const toCell = (text: string): string => (/[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
export const toCsv = ({ columns, values, rows }: Pick<ValueList, 'columns' | 'values' | 'rows'>): string =>
  [columns, ...(rows ?? values.map((value) => [value]))].map((row) => row.map(toCell).join(',')).join('\n');

/** Adds a value to a list as a row of its own. Returns false if the list has it. */
export async function addListValue(name: string, value: string): Promise<boolean> {
  const list = await read(api.GET('/api/value-lists/{name}', { params: { path: { name } } }));
  if (list.values.includes(value)) return false;
  const row = list.columns.map((_, index) => (index === 0 ? value : ''));
  const rows = [...(list.rows ?? list.values.map((one) => [one])), row];
  await saveValueList(name, list, { description: list.description, csv: toCsv({ ...list, rows }) });
  return true;
}
export const deleteValueList = (list: Versioned & { name: string }) =>
  sendIfMatch(list, (header) =>
    read(api.DELETE('/api/value-lists/{name}', { params: { path: { name: list.name }, header } })),
  );
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async () => (await read(api.GET('/api/models'))).models,
});
/** Datasets and fields that a query on a connection can use, in the language of its SIEM or as a portable query. */
export const connectionFieldsQuery = (id: string, portable: boolean) =>
  queryOptions({
    queryKey: ['connections', 'fields', id, portable],
    queryFn: async () =>
      (
        await read(
          api.GET('/api/connections/{id}/fields', {
            params: { path: { id }, query: { portable } },
          }),
        )
      ).datasets,
    staleTime: 300_000,
    retry: false,
  });
