import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { stringifyInSlices } from '../../platform/lib/concurrency/slices.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { collections, findCollection, type TaxiiCollection } from './collections.ts';
import { ObjectsQuery, readObjectsQuery, type ObjectsFilter } from './objects-query.ts';
import { readManifestPage, readObjects, type ManifestPage, type TaxiiDeps } from './read-objects.ts';

const taxiiType = 'application/taxii+json;version=2.1';

const root = '/taxii2/root';
const collectionUrl = `${root}/collections/:id`;
const CollectionPath = z.object({ id: z.string() });
const ObjectPath = CollectionPath.extend({ objectId: z.string() });

// Problem documents have the `title` that the standard requires of an error message (section 3.6.1). Clients may send filters of extensions.
const config = {
  scope: 'feed:read',
  acceptsBasicAuth: true,
  errorType: taxiiType,
  ignoresUnknownQuery: true,
} as const;

/** The standard defines the responses. */
const response = { 200: { description: 'OK', content: { [taxiiType]: { schema: z.looseObject({}) } } } };

type Description = { operationId: string; summary: string };

/** TAXII 2.1 (OASIS Standard, 10 June 2021), read-only. */
export function taxiiRoutes(app: App, deps: TaxiiDeps): void {
  get(
    app,
    '/taxii2/',
    { operationId: 'getTaxiiDiscovery', summary: 'Get the TAXII discovery document' },
    (_request, reply) => {
      const description = 'The threat feed as STIX 2.1.';
      const address = `${app.basePath}${root}/`;
      return send(reply, { title: 'Tocsin', description, default: address, api_roots: [address] });
    },
  );
  // The standard requires a positive number, although no content is accepted.
  get(app, `${root}/`, { operationId: 'getTaxiiRoot', summary: 'Get the TAXII API root' }, (_request, reply) =>
    send(reply, { title: 'The threat feed', versions: [taxiiType], max_content_length: 1 }),
  );
  get(
    app,
    `${root}/collections/`,
    { operationId: 'listTaxiiCollections', summary: 'List the TAXII collections' },
    (_request, reply) => send(reply, { collections: collections.map(toCollectionResource) }),
  );
  get(
    app,
    `${collectionUrl}/`,
    { operationId: 'getTaxiiCollection', summary: 'Get a TAXII collection', params: CollectionPath },
    ({ params }, reply) => send(reply, toCollectionResource(getCollection(params.id))),
  );
  collectionContentRoutes(app, deps);
  objectRoutes(app, deps);
  rejectWrites(app);
}

type TaxiiRequest<P extends z.ZodType, Q extends z.ZodType> = {
  caller: Caller;
  params: z.output<P>;
  query: z.output<Q>;
};

function get<P extends z.ZodType, Q extends z.ZodType>(
  app: App,
  url: string,
  { params, querystring, ...description }: Description & { params?: P; querystring?: Q },
  handle: (request: TaxiiRequest<P, Q>, reply: FastifyReply) => Promise<never>,
): void {
  app.route({
    method: 'GET',
    url,
    config,
    schema: {
      tags: ['taxii'],
      ...description,
      ...(params && { params }),
      ...(querystring && { querystring }),
      response,
    },
    handler: (request, reply) => {
      checkAccept(request.headers.accept);
      // The schemas have validated both.
      const input = { caller: requireCaller(request), params: request.params, query: request.query };
      return handle(input as TaxiiRequest<P, Q>, reply);
    },
  });
}

function collectionContentRoutes(app: App, deps: TaxiiDeps): void {
  const schemas = { params: CollectionPath, querystring: ObjectsQuery };
  const readPage = (caller: Caller, id: string, query: ObjectsQuery): Promise<ManifestPage> =>
    readManifestPage(deps, caller, getCollection(id), readObjectsQuery(query));
  get(
    app,
    `${collectionUrl}/objects/`,
    { operationId: 'listTaxiiObjects', summary: 'List the STIX objects of a TAXII collection', ...schemas },
    async ({ caller, params, query }, reply) => {
      const page = await readPage(caller, params.id, query);
      return sendPage(reply, page, { objects: await readObjects(deps, caller, page.rows) });
    },
  );
  get(
    app,
    `${collectionUrl}/manifest/`,
    {
      operationId: 'listTaxiiManifest',
      summary: 'List the IDs and versions of the objects of a TAXII collection',
      ...schemas,
    },
    async ({ caller, params, query }, reply) => {
      const page = await readPage(caller, params.id, query);
      const objects = page.rows.map((row) => ({
        id: row.object_id,
        date_added: row.date_added,
        version: row.version || row.date_added,
        media_type: `application/stix+json;version=${row.spec_version}`,
      }));
      return sendPage(reply, page, { objects });
    },
  );
}

function objectRoutes(app: App, deps: TaxiiDeps): void {
  const schemas = { params: ObjectPath, querystring: ObjectsQuery };
  get(
    app,
    `${collectionUrl}/objects/:objectId/`,
    { operationId: 'getTaxiiObject', summary: 'Get the versions of a STIX object', ...schemas },
    async ({ caller, params, query }, reply) => {
      const page = await readObjectPage(deps, caller, params, readObjectsQuery(query));
      return sendPage(reply, page, { objects: await readObjects(deps, caller, page.rows) });
    },
  );
  get(
    app,
    `${collectionUrl}/objects/:objectId/versions/`,
    { operationId: 'listTaxiiObjectVersions', summary: 'List the version times of a STIX object', ...schemas },
    async ({ caller, params, query }, reply) => {
      const filter = { ...readObjectsQuery(query), versions: ['all'] };
      const page = await readObjectPage(deps, caller, params, filter);
      return sendPage(reply, page, { versions: page.rows.map((row) => row.version || row.date_added) });
    },
  );
}

/** Collections are read-only: writes get a 403, as the standard requires (section 5.2). */
function rejectWrites(app: App): void {
  for (const [method, url] of [
    ['POST', `${collectionUrl}/objects/`],
    ['DELETE', `${collectionUrl}/objects/:objectId/`],
  ] as const)
    app.route({
      method,
      url,
      config,
      schema: { hide: true },
      // Runs before the body is parsed, which would fail on its media type.
      onRequest: async ({ params }) => {
        getCollection((params as z.infer<typeof CollectionPath>).id);
        throw appError('forbidden', 'The collection is read-only.');
      },
      handler: () => undefined,
    });
}

/** Reads the rows of one object. Throws `not_found` if the collection has no version of it at all. */
async function readObjectPage(
  deps: TaxiiDeps,
  caller: Caller,
  { id, objectId }: z.infer<typeof ObjectPath>,
  filter: ObjectsFilter,
): Promise<ManifestPage> {
  const collection = getCollection(id);
  const page = await readManifestPage(deps, caller, collection, { ...filter, ids: [objectId] });
  if (page.rows.length > 0) return page;
  const anyVersion = { ...readObjectsQuery({}), ids: [objectId], limit: 1, versions: ['all'] };
  if ((await readManifestPage(deps, caller, collection, anyVersion)).rows.length > 0) return page;
  throw appError('not_found', `Object ${objectId} not found in the collection`);
}

function getCollection(idOrAlias: string): TaxiiCollection {
  const collection = findCollection(idOrAlias);
  if (!collection) throw appError('not_found', `Collection ${idOrAlias} not found`);
  return collection;
}

const toCollectionResource = ({ id, alias, title, description }: TaxiiCollection): Record<string, unknown> => ({
  id,
  title,
  description,
  alias,
  can_read: true,
  can_write: false,
  media_types: ['application/stix+json;version=2.1', 'application/stix+json;version=2.0'],
});

/** An envelope without objects has no list at all (TAXII 2.1, section 3.7). */
function sendPage(reply: FastifyReply, { rows, next }: ManifestPage, lists: Record<string, unknown[]>): Promise<never> {
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (first && last)
    reply.headers({ 'x-taxii-date-added-first': first.date_added, 'x-taxii-date-added-last': last.date_added });
  const nonEmptyLists = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  return send(reply, { ...(next === undefined ? {} : { more: true, next }), ...nonEmptyLists });
}

const send = async (reply: FastifyReply, body: Record<string, unknown>): Promise<never> =>
  reply
    .header('content-type', taxiiType)
    .header('cache-control', 'private, no-cache')
    .send(Buffer.from(await stringifyInSlices(body))) as never;

/** Throws a 406 if an Accept header does not accept the media type of TAXII 2.1, with or without its version (section 1.6.8). */
function checkAccept(header: string | undefined): void {
  if (header === undefined || header.trim() === '') return;
  const isAccepted = header.slice(0, 1_000).split(',').some(acceptsTaxii);
  if (!isAccepted) throw appError('not_acceptable', `The Accept header must accept ${taxiiType}.`);
}

function acceptsTaxii(range: string): boolean {
  const [type = '', ...parameters] = range
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) return false;
  if (type === '*/*' || type === 'application/*') return true;
  const version = parameters.find((parameter) => parameter.startsWith('version='));
  return type === 'application/taxii+json' && (version === undefined || version.replaceAll('"', '') === 'version=2.1');
}
