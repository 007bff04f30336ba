import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../../platform/http/app-type.ts';
import type { RenderedError } from '../../../platform/http/responses/problem.ts';
import type { AppError } from '../../../platform/lib/errors.ts';
import type { ReceiveShipperDeps } from '../receive-shipper-body.ts';
import { bodyOptions, receiveRequest, registerShipperScope, shipperConfig } from './shipper-scope.ts';
import { renderBulkResponse } from './bulk-response.ts';

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

/** A server that shippers expect. They refuse versions that are older than their own, so that this is that of a current one. */
type Product = { path: string; productHeader: string | undefined; info: Record<string, unknown> };

const cluster = { name: 'tocsin', cluster_name: 'tocsin', cluster_uuid: 'tocsin' };
const lucene = { minimum_wire_compatibility_version: '7.17.0', minimum_index_compatibility_version: '7.0.0' };

const products: readonly Product[] = [
  {
    path: '/elasticsearch',
    productHeader: 'Elasticsearch',
    info: {
      ...cluster,
      version: { number: '8.19.0', build_flavor: 'default', build_type: 'tocsin', ...lucene },
      tagline: 'You Know, for Search',
    },
  },
  {
    path: '/opensearch',
    productHeader: undefined,
    info: {
      ...cluster,
      version: { distribution: 'opensearch', number: '2.19.0', build_type: 'tocsin', ...lucene },
      tagline: 'The OpenSearch Project: https://opensearch.org/',
    },
  },
];

const license = { status: 'active', uid: 'tocsin', type: 'basic', mode: 'basic', issued_to: 'tocsin' };
const health = {
  cluster_name: 'tocsin',
  status: 'green',
  timed_out: false,
  number_of_nodes: 1,
  number_of_data_nodes: 1,
};
const NamePath = z.object({ name: z.string().max(255) });

/**
 * Registers what shippers request besides bulk requests: the version, the license, the health, and set-ups of templates, lifecycle policies,
 * pipelines, data streams and indexes. A dataset needs no set-up, so each is acknowledged, and exists when a shipper asks for it.
 */
function registerProbes(scope: App, { path, info }: Product): void {
  const answers: Record<string, unknown> = {
    '': info,
    '/_license': { license },
    '/_xpack': { build: {}, license, features: { ilm: { available: true, enabled: true } }, tagline: 'tocsin' },
    '/_cat/health': [{ cluster: 'tocsin', status: 'green' }],
    '/_cluster/health': health,
  };
  for (const [url, answer] of Object.entries(answers))
    scope.route({
      method: 'GET',
      url: `${path}${url}`,
      config: shipperConfig,
      schema: { hide: true },
      handler: (_request, reply) => reply.send(answer),
    });
  for (const [url, describe] of Object.entries(setups)) {
    const options = { url: `${path}${url}/:name`, config: shipperConfig, schema: { hide: true, params: NamePath } };
    scope.route({ ...options, method: 'GET', handler: ({ params }, reply) => reply.send(describe(params.name)) });
    scope.route({ ...options, method: 'PUT', handler: (_request, reply) => reply.send({ acknowledged: true }) });
  }
}

const byName = (name: string): unknown => ({ [name]: {} });

/** Resources that shippers set up, each with the response that reports that it exists. */
const setups: Record<string, (name: string) => unknown> = {
  '': byName,
  '/_template': byName,
  '/_index_template': (name) => ({ index_templates: [{ name, index_template: {} }] }),
  '/_component_template': (name) => ({ component_templates: [{ name, component_template: {} }] }),
  '/_ilm/policy': byName,
  '/_plugins/_ism/policies': (name) => ({ _id: name, policy: {} }),
  '/_ingest/pipeline': byName,
  '/_data_stream': (name) => ({ data_streams: [{ name, timestamp_field: { name: '@timestamp' }, status: 'GREEN' }] }),
  '/_alias': byName,
};
