import type { z } from 'zod';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { registerRoute } from './api-routes.ts';
import type { App } from './app-type.ts';
import type { RecordVersion } from './responses/etag.ts';

type Line = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /api/admin/${string}`;
type Schema = z.ZodType;
type Options<Params, Query, Body, Result extends Schema> = {
  operationId: string;
  summary: string;
  description?: string;
  ignoresBody?: boolean;
  secretField?: string;
  acceptsIfMatch?: boolean;
  /** The response is a record: send its version in the ETag header. */
  hasEtag?: boolean;
  /** Like `hasEtag`, for a response without `updatedAt`. */
  versionOf?: (result: z.output<Result>) => RecordVersion;
  bodyBytesMax?: number;
  params?: Params;
  query?: Query;
  body?: Body;
  returns: Result;
};
type Input<Params extends Schema, Query extends Schema, Body extends Schema> = {
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** Like `apiRoutes`, for routes that need the key of the installation and belong to no organization. */
export function adminRoutes(app: App, tag: string) {
  return <P extends Schema, Q extends Schema, B extends Schema, R extends Schema>(
    line: Line,
    options: Options<P, Q, B, R>,
    handle: (input: Input<P, Q, B>) => Promise<z.input<R>>,
  ): void =>
    registerRoute(app, { tag, line, access: { isAdmin: true } }, options, (request, reply) => {
      const { params, query, body } = request;
      // The schemas have validated all three.
      return handle({ params, query, body, request, reply } as Input<P, Q, B>);
    });
}
