import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import { appError } from '../../platform/lib/errors.ts';
import { requireBytes, requireKnownEncoding } from './ingestion/body/check-body.ts';
import { declareColumns, readColumns, versionOfColumns, type DeclareColumnsDeps } from './catalog/declare-columns.ts';
import { listDatasets, type ListDatasetsDeps } from './catalog/list-datasets.ts';
import { receivedBytesMax } from './ingestion/body/inflate.ts';
import type { RecordReceipt } from './ingestion/ingest-metrics.ts';
import { receiveLogs, type ReceiveLogsDeps } from './ingestion/receive-logs.ts';
import {
  ColumnDeclarations,
  DatasetColumns,
  DatasetList,
  DatasetPath,
  LogReceipt,
  LogSources,
  ReceiveQuery,
} from './logs.schema.ts';
import { shipperSources } from './shippers/shipper-sources.ts';

const acceptedTypes =
  /^(?:application\/(?:json|(?:x-)?ndjson|(?:x-)?jsonl(?:ines)?|json-seq|(?:x-)?gzip|zstd|octet-stream)|text\/plain)$/i;

const event = { type: 'object', additionalProperties: true };
/** The body of `sendLogs`, for the OpenAPI document. */
const eventsBody = {
  'application/x-ndjson': {
    schema: { type: 'string', description: 'One event per line.' },
    example: '{"timestamp":"2026-07-01T09:00:00Z","user":"ada"}\n{"timestamp":"2026-07-01T09:00:05Z","user":"bob"}\n',
  },
  'application/json': {
    schema: { anyOf: [{ type: 'array', items: event }, event] },
    example: [{ timestamp: '2026-07-01T09:00:00Z', user: 'ada' }],
  },
};

type LogRoutesDeps = ListDatasetsDeps &
  ReceiveLogsDeps &
  DeclareColumnsDeps & { recordReceipt: RecordReceipt; diskGuard: DiskGuard };

export function logRoutes(app: App, deps: LogRoutesDeps): void {
  const route = apiRoutes(app, { tag: 'logs', scope: 'detections:read' });
  route(
    'GET /api/logs',
    { operationId: 'listDatasets', summary: 'List the datasets with their columns', returns: DatasetList },
    ({ caller }) => listDatasets(deps, caller.orgId),
  );
  route(
    'GET /api/logs/sources',
    {
      operationId: 'listLogShippers',
      summary: 'List log shippers with their configuration',
      description:
        'Each configuration is complete but for the address (`https://tocsin.example:443`), the key (`KEY`, with the scope `logs:write`) and what the shipper reads.',
      returns: LogSources,
    },
    () => ({ sources: [...shipperSources] }),
  );
  route(
    'GET /api/logs/:dataset/columns',
    {
      operationId: 'getColumns',
      summary: 'Get the columns of a dataset',
      description: 'The `ETag` is the version of the declared types.',
      params: DatasetPath,
      returns: DatasetColumns,
      versionOf: versionOfColumns,
    },
    ({ caller, params }) => readColumns(deps, caller, params.dataset),
  );
  route(
    'PUT /api/logs/:dataset/columns',
    {
      operationId: 'declareColumns',
      summary: 'Declare the types of columns',
      description:
        'Replaces the declared types of a dataset, which may be new. Applies to all events, stored ones included. A value that does not fit is null in the column and readable as text under `_text`.',
      scope: 'detections:write',
      params: DatasetPath,
      acceptsIfMatch: true,
      body: ColumnDeclarations,
      returns: DatasetColumns,
      versionOf: versionOfColumns,
    },
    ({ caller, params, body, request }) =>
      declareColumns(deps, caller, { ...params, ...body, ifMatch: request.headers['if-match'] }),
  );
  // A scope of its own, because the parser that accepts any body must not apply to other routes.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: receivedBytesMax }, (_request, body, done) =>
      done(null, body),
    );
    (scope as unknown as App).route({
      method: 'POST',
      url: '/api/logs/:dataset',
      bodyLimit: receivedBytesMax,
      // `bodyLimit` bounds the bytes as sent. Decompression has its own limit.
      decompress: false,
      config: { scope: 'logs:write', bodyContent: eventsBody },
      schema: {
        operationId: 'sendLogs',
        tags: ['logs'],
        summary: 'Store events',
        description:
          'The body is NDJSON, a JSON array of events, or an envelope such as `{"Records": []}`, plain, gzip or zstd, at most 32 MiB as sent. Events counted as accepted are stored durably.',
        consumes: ['application/x-ndjson', 'application/json', 'text/plain'],
        params: DatasetPath,
        querystring: ReceiveQuery,
        response: { 200: LogReceipt },
      },
      handler: async (request) => {
        checkHeaders(request.headers);
        const body = requireBytes(request.body);
        await deps.diskGuard.requireSpace();
        const { timeField, history } = request.query;
        const receipt = await receiveLogs(deps, requireCaller(request).orgId, {
          dataset: request.params.dataset,
          body,
          timeField,
          history: history === 'true',
        });
        deps.recordReceipt(receipt);
        return receipt;
      },
    });
  });
}

function checkHeaders(headers: Record<string, string | string[] | undefined>): void {
  const type = String(headers['content-type'] ?? 'application/json')
    .split(';')[0]!
    .trim();
  if (!acceptedTypes.test(type))
    throw appError(
      'unsupported_media_type',
      'Send events as application/x-ndjson or application/json, plain, gzip or zstd.',
    );
  requireKnownEncoding(headers);
}
