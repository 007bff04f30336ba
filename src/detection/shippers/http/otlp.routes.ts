import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../../platform/http/app-type.ts';
import type { RenderedError } from '../../../platform/http/responses/problem.ts';
import { appError, type AppError } from '../../../platform/lib/errors.ts';
import { findFailure, type ReceiveShipperDeps, type ShipperReceipt } from '../receive-shipper-body.ts';
import { logsResponse, statusMessage } from '../formats/otlp-decoder.ts';
import { bodyOptions, receiveRequest, registerShipperScope, shipperConfig } from './shipper-scope.ts';

const protobufType = 'application/x-protobuf';
const jsonType = 'application/json';

/** OpenTelemetry's protocol for logs over HTTP (OTLP/HTTP 1.x). */
export function otlpRoutes(app: App, deps: ReceiveShipperDeps): void {
  registerShipperScope(app, renderError, (scope) => {
    scope.route({
      method: 'POST',
      url: '/v1/logs',
      ...bodyOptions,
      config: shipperConfig,
      schema: { hide: true },
      handler: async (request, reply) => {
        const encoding = requireEncoding(request);
        return sendReceipt(await receiveRequest(deps, request, { kind: 'otlp', encoding }), encoding, reply);
      },
    });
  });
}

function requireEncoding({ headers }: FastifyRequest): 'json' | 'protobuf' {
  const type = mediaTypeOf(headers['content-type']);
  if (type === jsonType) return 'json';
  if (type === protobufType) return 'protobuf';
  throw appError('unsupported_media_type', `Send logs as ${protobufType} or ${jsonType}.`);
}

const mediaTypeOf = (header: string | undefined): string => (header ?? '').split(';')[0]!.trim().toLowerCase();

/** Rejected records are a partial success, which clients must not send again. */
function sendReceipt(receipt: ShipperReceipt, encoding: string, reply: FastifyReply): FastifyReply {
  const { rejected, batches, batchOfItem } = receipt;
  const unstored = batchOfItem.filter((position) => batches[position]?.failed !== undefined).length;
  const reason = rejected[0] ? `Record ${rejected[0].item}: ${rejected[0].reason}` : findFailure(receipt)?.message;
  const count = rejected.length + unstored;
  const response = count === 0 ? {} : { partialSuccess: { rejectedLogRecords: String(count), errorMessage: reason } };
  if (encoding === 'json') return reply.header('content-type', jsonType).send(JSON.stringify(response));
  const message = logsResponse.encode(logsResponse.fromObject(response)).finish();
  return reply.header('content-type', protobufType).send(Buffer.from(message));
}

const codeByStatus: Record<number, number> = { 400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 429: 8, 503: 14 };

/** Renders an error as google.rpc.Status, in the encoding of the request. */
function renderError({ status, message }: AppError, { headers }: FastifyRequest): RenderedError {
  const content = { code: codeByStatus[status] ?? 13, message };
  if (mediaTypeOf(headers['content-type']) !== protobufType) return { body: JSON.stringify(content), type: jsonType };
  return { body: Buffer.from(statusMessage.encode(content).finish()), type: protobufType };
}
