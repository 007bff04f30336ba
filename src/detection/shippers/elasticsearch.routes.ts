import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../platform/http/app-type.ts';
import type { RenderedError } from '../../platform/http/responses/problem.ts';
import type { AppError } from '../../platform/lib/errors.ts';
import type { ReceiveShipperDeps } from './receive-shipper-body.ts';
import { bodyOptions, receiveRequest, registerShipperScope, shipperConfig } from './shipper-scope.ts';
import { renderBulkResponse } from './bulk-response.ts';
import { products, registerProbes, type Product } from './probes.ts';

const IndexPath = z.object({ index: z.string().max(255) });
const BulkQuery = z.looseObject({ filter_path: z.string().max(1000).optional() });

/** Elasticsearch's and OpenSearch's bulk API, each below its own path, with the requests that shippers send before and beside it. */
export function elasticsearchRoutes(app: App, deps: ReceiveShipperDeps): void {
  for (const product of products)
    registerShipperScope(app, renderError, (scope) => {
      scope.addHook('onRequest', async (_request, reply) => {
        // The official clients refuse to talk to a server without it.
        if (product.productHeader) reply.header('x-elastic-product', product.productHeader);
      });
      registerProbes(scope, product);
      registerBulk(scope, product, deps);
    });
}

function registerBulk(scope: App, { path }: Product, deps: ReceiveShipperDeps): void {
  const options = { ...bodyOptions, config: shipperConfig };
  for (const method of ['POST', 'PUT'] as const) {
    scope.route({
      method,
      url: `${path}/_bulk`,
      ...options,
      schema: { hide: true, querystring: BulkQuery },
      handler: (request, reply) => receiveBulk(deps, request, reply, { index: undefined, query: request.query }),
    });
    scope.route({
      method,
      url: `${path}/:index/_bulk`,
      ...options,
      schema: { hide: true, params: IndexPath, querystring: BulkQuery },
      handler: (request, reply) =>
        receiveBulk(deps, request, reply, { index: request.params.index, query: request.query }),
    });
  }
}

async function receiveBulk(
  deps: ReceiveShipperDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { index, query }: { index: string | undefined; query: z.infer<typeof BulkQuery> },
): Promise<FastifyReply> {
  const startMs = performance.now();
  const receipt = await receiveRequest(deps, request, { kind: 'bulk', index });
  const tookMs = Math.round(performance.now() - startMs);
  const slices = renderBulkResponse(receipt, { tookMs, filterPath: query.filter_path });
  return reply.header('content-type', 'application/json; charset=utf-8').send(Readable.from(slices));
}

const typeByStatus: Record<number, string> = {
  400: 'illegal_argument_exception',
  401: 'security_exception',
  403: 'security_exception',
  413: 'content_too_long_exception',
  429: 'es_rejected_execution_exception',
};

/** Renders an error as Elasticsearch does. */
function renderError({ status, message }: AppError): RenderedError {
  const cause = { type: typeByStatus[status] ?? 'exception', reason: message };
  const body = JSON.stringify({ error: { root_cause: [cause], ...cause }, status });
  return { body, type: 'application/json; charset=utf-8' };
}
