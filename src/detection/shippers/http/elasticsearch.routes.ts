import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { BulkItems, BulkOperation } from '../formats/bulk-decoder.ts';
import { bodyOptions, receiveRequest, registerShipperScope, shipperConfig } from './shipper-scope.ts';
import type { ReceiveShipperDeps, ShipperReceipt } from '../receive-shipper-body.ts';
import type { App } from '../../../platform/http/app-type.ts';
import type { RenderedError } from '../../../platform/http/responses/problem.ts';
import type { AppError } from '../../../platform/lib/errors.ts';

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

type ItemResult = {
  _index: string;
  _id: string;
  status: number;
  result?: string;
  error?: { type: string; reason: string };
};

const itemsPerSlice = 500;
const noItems: BulkItems = { operations: [], indexes: [], ids: [] };

/**
 * Renders the response of `_bulk` in slices: one result per item, in order. An ID that was stored before is a conflict (409) for `create`,
 * which shippers count as delivered, and a success without effect for `index`. An event beyond a quota is a 429. `filterPath` selects fields as in Elasticsearch.
 */
function* renderBulkResponse(
  receipt: ShipperReceipt,
  { tookMs, filterPath }: { tookMs: number; filterPath: string | undefined },
): Generator<string> {
  const items = (receipt.items as BulkItems | undefined) ?? noItems;
  const reasons = new Map(receipt.rejected.map(({ item, reason }) => [item, reason]));
  const results = items.operations.map((operation, index) => ({
    operation,
    result: resultOf(receipt, reasons, { items, operation, index }),
  }));
  const hasErrors = results.some(({ result }) => result.error !== undefined);
  const filter = parseFilterPath(filterPath);
  const head = { took: tookMs, errors: hasErrors };
  const kept = Object.entries(head).filter(([name]) => filter.hasField(name));
  if (!filter.hasItems) {
    yield JSON.stringify(Object.fromEntries(kept));
    return;
  }
  yield `{${kept.map(([name, value]) => `"${name}":${value},`).join('')}"items":[`;
  let isFirst = true;
  for (let at = 0; at < results.length; at += itemsPerSlice) {
    const texts = results.slice(at, at + itemsPerSlice).flatMap(({ operation, result }) => {
      const fields = Object.entries(result).filter(([name]) => filter.hasItemField(name));
      return fields.length === 0 ? [] : [JSON.stringify({ [operation]: Object.fromEntries(fields) })];
    });
    if (texts.length === 0) continue;
    yield (isFirst ? '' : ',') + texts.join(',');
    isFirst = false;
  }
  yield ']}';
}

function resultOf(
  { batches, batchOfItem, repeated }: ShipperReceipt,
  reasons: ReadonlyMap<number, string>,
  { items, operation, index }: { items: BulkItems; operation: BulkOperation; index: number },
): ItemResult {
  const item = index + 1;
  const batch = batches[batchOfItem[index]!];
  const names = { _index: items.indexes[index]!, _id: items.ids[index] ?? `${batch?.id ?? ''}:${item}` };
  const rejection = reasons.get(item);
  const failed = rejection === undefined ? batch?.failed : undefined;
  // Shippers send only the events with this status again.
  if (failed?.status === 429)
    return { ...names, status: 429, error: { type: 'es_rejected_execution_exception', reason: failed.message } };
  const reason = rejection ?? failed?.message;
  if (reason !== undefined) return { ...names, status: 400, error: { type: 'document_parsing_exception', reason } };
  if (!repeated.has(item)) return { ...names, status: 201, result: 'created' };
  if (operation !== 'create') return { ...names, status: 200, result: 'noop' };
  const type = 'version_conflict_engine_exception';
  return { ...names, status: 409, error: { type, reason: `[${names._id}]: an event with this _id is already stored` } };
}

type ResponseFilter = {
  hasField: (name: string) => boolean;
  hasItems: boolean;
  hasItemField: (name: string) => boolean;
};

const everything: ResponseFilter = { hasField: () => true, hasItems: true, hasItemField: () => true };

/** Parses `errors,items.*.error,items.*.status`. Any other form of a pattern selects everything. */
function parseFilterPath(filterPath: string | undefined): ResponseFilter {
  const paths = (filterPath ?? '').split(',').filter((path) => path !== '');
  if (paths.length === 0 || !paths.every((path) => /^(?:took|errors|items|items\.\*\.\w+)$/.test(path)))
    return everything;
  const itemFields = paths.filter((path) => path.startsWith('items.')).map((path) => path.split('.')[2]!);
  const hasAllItemFields = paths.includes('items');
  return {
    hasField: (name) => paths.includes(name),
    hasItems: hasAllItemFields || itemFields.length > 0,
    hasItemField: (name) => hasAllItemFields || itemFields.includes(name),
  };
}
