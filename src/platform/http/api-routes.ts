import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Caller, Scope } from './caller.ts';
import { requireCaller, type App } from './app-type.ts';
import { recordEtag, type RecordVersion } from './etag.ts';

type Line = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
type Schema = z.ZodType;
type Options<Params, Query, Body, Result extends Schema> = Omit<FastifyContextConfig, 'isPublic' | 'ignoresBody'> & {
  /** The name of the operation in generated clients: a verb and its object. */
  operationId: string;
  summary: string;
  description?: string;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Schema of the response with status 200. */
  returns: Result;
  /** The response is a record: send its version in the ETag header. */
  hasEtag?: boolean;
  /** Like `hasEtag`, for a response without `updatedAt`. */
  versionOf?: (result: z.output<Result>) => RecordVersion;
  /** Default: the limit of the server. */
  bodyBytesMax?: number;
};
type Input<Params extends Schema, Query extends Schema, Body extends Schema> = {
  caller: Caller;
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
  /** The header If-Match, for routes that accept it. */
  ifMatch: string | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
};
type Handle<I, R extends Schema> = (input: I) => z.input<R> | Promise<z.input<R>>;

type RouteDescription = {
  operationId: string;
  summary: string;
  description?: string | undefined;
  params?: unknown;
  query?: unknown;
  body?: unknown;
  returns: unknown;
};

/** Returns what a route validates and how OpenAPI describes it. */
const describeRoute = (tag: string, route: RouteDescription): object => ({
  tags: [tag],
  operationId: route.operationId,
  summary: route.summary,
  ...(route.description !== undefined && { description: route.description }),
  ...(route.params !== undefined && { params: route.params }),
  ...(route.query !== undefined && { querystring: route.query }),
  ...(route.body !== undefined && { body: route.body }),
  response: { 200: route.returns },
});

type RouteOptions = RouteDescription & {
  hasEtag?: boolean | undefined;
  versionOf?: ((result: never) => RecordVersion) | undefined;
  bodyBytesMax?: number | undefined;
} & FastifyContextConfig;

/** Registers a JSON route with the response of `handle`. `access` says who may call it, unless the options do. */
function registerRoute(
  app: App,
  { tag, line, access }: { tag: string; line: string; access: FastifyContextConfig },
  options: RouteOptions,
  handle: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  const { operationId, summary, description, params, query, body, returns, hasEtag, bodyBytesMax, ...rest } = options;
  const { versionOf = hasEtag ? (record: never) => record as RecordVersion : undefined, ...config } = rest;
  const [method, url] = line.split(' ') as [string, string];
  app.route({
    method,
    url,
    config: { ...access, ...config, ignoresBody: method !== 'GET' && body === undefined },
    ...(bodyBytesMax !== undefined && { bodyLimit: bodyBytesMax }),
    schema: describeRoute(tag, { operationId, summary, description, params, query, body, returns }),
    handler: (async (request: FastifyRequest, reply: FastifyReply) => {
      const result = await handle(request, reply);
      if (versionOf) void reply.header('etag', recordEtag(versionOf(result as never)));
      return result;
    }) as never,
  });
}

/**
 * Returns a function that registers JSON routes with a key: `route('GET /api/hits', { operationId: 'listHits', summary, returns }, handler)`. `tag` groups them in
 * the OpenAPI description. `scope` is what a key needs, unless a route's options name another; null: any valid key will do.
 */
export function apiRoutes(app: App, { tag, scope }: { tag: string; scope: Scope | null }) {
  const access = scope === null ? { needsNoScope: true as const } : { scope };
  return <P extends Schema, Q extends Schema, B extends Schema, R extends Schema>(
    line: Line,
    options: Options<P, Q, B, R>,
    handle: Handle<Input<P, Q, B>, R>,
  ): void =>
    registerRoute(app, { tag, line, access }, options, (request, reply) =>
      handle({ caller: requireCaller(request), ...readInput(request), reply } as Input<P, Q, B>),
    );
}

/** Like `apiRoutes`, for routes that need the key of the installation and belong to no organization. */
export function adminRoutes(app: App, tag: string) {
  return <P extends Schema, Q extends Schema, B extends Schema, R extends Schema>(
    line: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /api/admin/${string}`,
    options: Options<P, Q, B, R>,
    handle: Handle<Omit<Input<P, Q, B>, 'caller'>, R>,
  ): void =>
    registerRoute(app, { tag, line, access: { isAdmin: true } }, options, (request, reply) =>
      handle({ ...readInput(request), reply } as Input<P, Q, B>),
    );
}

/** Returns what the schemas of a route have validated, and the header If-Match. */
const readInput = (request: FastifyRequest) => {
  const { params, query, body, headers } = request;
  return { params, query, body, ifMatch: headers['if-match'], request };
};
