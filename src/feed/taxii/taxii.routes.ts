import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { checkAccept, taxiiType } from './accept-header.ts';
import { collections, findCollection, type Collection } from './collections.ts';
import { listPage, readObjects, type ListedPage } from './list-objects.ts';
import { ObjectsQuery, readObjectsQuery, type Asked } from './objects-query.ts';

const root = '/taxii2/root';
const CollectionPath = z.object({ id: z.string() });
const ObjectPath = CollectionPath.extend({ objectId: z.string() });

const schema = { hide: true } as const;
// A problem has the title that an error message of the standard must have (section 3.6.1).
const config = { scope: 'feed:read', basic: true, errorType: taxiiType } as const;

/** TAXII 2.1 (OASIS Standard, 10 June 2021), reading only. Described by that standard and not by openapi.json. */
export function taxiiRoutes(app: App, deps: Deps): void {
  const get = { method: 'GET' as const, config };
  app.route({
    ...get,
    url: '/taxii2/',
    schema,
    handler: (request, reply) => {
      checkAccept(request.headers.accept);
      const found = {
        title: 'Tocsin',
        description: 'The threat feed as STIX 2.1.',
        default: `${root}/`,
        api_roots: [`${root}/`],
      };
      return send(reply, found);
    },
  });
  app.route({
    ...get,
    url: `${root}/`,
    schema,
    handler: (request, reply) => {
      checkAccept(request.headers.accept);
      // Nothing is taken in.
      return send(reply, { title: 'The threat feed', versions: [taxiiType], max_content_length: 1 });
    },
  });
  app.route({
    ...get,
    url: `${root}/collections/`,
    schema,
    handler: (request, reply) => {
      checkAccept(request.headers.accept);
      return send(reply, { collections: collections.map(described) });
    },
  });
  app.route({
    ...get,
    url: `${root}/collections/:id/`,
    schema: { ...schema, params: CollectionPath },
    handler: (request, reply) => {
      checkAccept(request.headers.accept);
      return send(reply, described(getCollection(request.params.id)));
    },
  });
  objectRoutes(app, deps);
  refuseWriting(app);
}

function objectRoutes(app: App, deps: Deps): void {
  const base = `${root}/collections/:id`;
  const listed = (caller: Caller, id: string, query: ObjectsQuery): Promise<ListedPage> =>
    listPage(deps, caller, getCollection(id), readObjectsQuery(query));
  app.route({
    method: 'GET',
    config,
    url: `${base}/objects/`,
    schema: { ...schema, params: CollectionPath, querystring: ObjectsQuery },
    handler: async (request, reply) => {
      checkAccept(request.headers.accept);
      const page = await listed(callerOf(request), request.params.id, request.query);
      return sendPage(reply, page, { objects: await readObjects(deps, callerOf(request), page.rows) });
    },
  });
  app.route({
    method: 'GET',
    config,
    url: `${base}/manifest/`,
    schema: { ...schema, params: CollectionPath, querystring: ObjectsQuery },
    handler: async (request, reply) => {
      checkAccept(request.headers.accept);
      const page = await listed(callerOf(request), request.params.id, request.query);
      return sendPage(reply, page, {
        objects: page.rows.map((row) => ({
          id: row.object_id,
          date_added: row.date_added,
          version: row.version || row.date_added,
          media_type: `application/stix+json;version=${row.spec_version}`,
        })),
      });
    },
  });
  app.route({
    method: 'GET',
    config,
    url: `${base}/objects/:objectId/`,
    schema: { ...schema, params: ObjectPath, querystring: ObjectsQuery },
    handler: async (request, reply) => {
      checkAccept(request.headers.accept);
      const page = await pageOf(deps, callerOf(request), request.params, readObjectsQuery(request.query));
      return sendPage(reply, page, { objects: await readObjects(deps, callerOf(request), page.rows) });
    },
  });
  app.route({
    method: 'GET',
    config,
    url: `${base}/objects/:objectId/versions/`,
    schema: { ...schema, params: ObjectPath, querystring: ObjectsQuery },
    handler: async (request, reply) => {
      checkAccept(request.headers.accept);
      const asked = { ...readObjectsQuery(request.query), versions: ['all'] };
      const page = await pageOf(deps, callerOf(request), request.params, asked);
      return sendPage(reply, page, { versions: page.rows.map((row) => row.version || row.date_added) });
    },
  });
}

/** No collection takes anything: 403, as the standard says of those that cannot be written to (section 5.2). */
function refuseWriting(app: App): void {
  for (const [method, url] of [
    ['POST', `${root}/collections/:id/objects/`],
    ['DELETE', `${root}/collections/:id/objects/:objectId/`],
  ] as const)
    app.route({
      method,
      url,
      config,
      schema,
      // Before the body is read: its media type is none that is known here.
      onRequest: async ({ params }) => {
        getCollection((params as z.infer<typeof CollectionPath>).id);
        throw appError('forbidden', 'The collection cannot be written to.');
      },
      handler: () => undefined,
    });
}

/** Of one object; throws not_found where the collection has none of it at all. */
async function pageOf(
  deps: Deps,
  caller: ReturnType<typeof callerOf>,
  { id, objectId }: z.infer<typeof ObjectPath>,
  asked: Asked,
): Promise<ListedPage> {
  const collection = getCollection(id);
  const page = await listPage(deps, caller, collection, { ...asked, ids: [objectId] });
  if (page.rows.length > 0) return page;
  const any = {
    ...asked,
    after: undefined,
    specVersions: undefined,
    types: undefined,
    ids: [objectId],
    limit: 1,
    versions: ['all'],
  };
  if ((await listPage(deps, caller, collection, any)).rows.length > 0) return page;
  throw appError('not_found', `The collection has no object ${objectId}`);
}

function getCollection(name: string): Collection {
  const found = findCollection(name);
  if (!found) throw appError('not_found', `There is no collection ${name}`);
  return found;
}

const described = ({ id, alias, title, description }: Collection): Record<string, unknown> => ({
  id,
  title,
  description,
  alias,
  can_read: true,
  can_write: false,
  media_types: ['application/stix+json;version=2.1', 'application/stix+json;version=2.0'],
});

/** An envelope without objects has no list at all (TAXII 2.1, section 3.7). */
function sendPage(reply: FastifyReply, { rows, next }: ListedPage, lists: Record<string, unknown[]>): never {
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (first && last)
    reply.headers({ 'x-taxii-date-added-first': first.date_added, 'x-taxii-date-added-last': last.date_added });
  const filled = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  return send(reply, { ...(next === undefined ? {} : { more: true, next }), ...filled });
}

const send = (reply: FastifyReply, body: unknown): never =>
  reply
    .header('content-type', taxiiType)
    .header('cache-control', 'private, no-cache')
    .send(Buffer.from(JSON.stringify(body))) as never;
