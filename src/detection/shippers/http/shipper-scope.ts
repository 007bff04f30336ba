import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { requireCaller, type App } from '../../../platform/http/app-type.ts';
import { createErrorHandler, type RenderedError } from '../../../platform/http/responses/problem.ts';
import type { AppError } from '../../../platform/lib/errors.ts';
import { requireBytes, requireKnownEncoding, receivedBytesMax } from '../../log-ingest/body/inflate.ts';
import { receiveShipperBody, type ReceiveShipperDeps, type ShipperReceipt } from '../receive-shipper-body.ts';
import type { ShipperFormat } from '../formats/shipper-format.ts';

/** Configuration of every route of a shipper's protocol. Shippers add query parameters of their own. */
export const shipperConfig = {
  scope: 'logs:write',
  acceptsShipperAuth: true,
  ignoresUnknownQuery: true,
} as const satisfies FastifyContextConfig;

/** Options of a route that receives a body. `bodyLimit` bounds the bytes as sent. Decompression has its own limit. */
export const bodyOptions = { bodyLimit: receivedBytesMax, decompress: false } as const;

/**
 * Registers the routes of a protocol in a scope in which every body is read as bytes and errors have the protocol's form. The routes are not
 * in openapi.json, because the protocols define them.
 */
export function registerShipperScope(
  app: App,
  renderError: (error: AppError, request: FastifyRequest) => RenderedError,
  register: (scope: App) => void,
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: receivedBytesMax }, (_request, body, done) =>
      done(null, body),
    );
    scope.setErrorHandler(createErrorHandler(renderError));
    register(scope as unknown as App);
  });
}

/** Stores the body of a request. Throws 400 without a body and 415 for a Content-Encoding other than gzip and zstd. */
export async function receiveRequest(
  deps: ReceiveShipperDeps,
  request: FastifyRequest,
  format: ShipperFormat,
): Promise<ShipperReceipt> {
  requireKnownEncoding(request.headers);
  const body = requireBytes(request.body);
  return receiveShipperBody(deps, requireCaller(request).orgId, { format, body });
}
