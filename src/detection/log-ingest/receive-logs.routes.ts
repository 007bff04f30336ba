import { requireCaller, type App } from '../../platform/http/app-type.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import { appError } from '../../platform/lib/errors.ts';
import { DatasetPath } from '../log-store/catalog/datasets.schema.ts';
import { requireBytes, requireKnownEncoding, receivedBytesMax } from './body/inflate.ts';
import { LogReceipt, ReceiveQuery } from './events/log-receipt.schema.ts';
import { receiveLogs, type RecordReceipt, type ReceiveLogsDeps } from './receive-logs.ts';

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

type ReceiveLogsRoutesDeps = ReceiveLogsDeps & { recordReceipt: RecordReceipt; diskGuard: DiskGuard };

export function receiveLogsRoutes(app: App, deps: ReceiveLogsRoutesDeps): void {
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
