import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { appError } from '../lib/errors.ts';
import type { Caller, Scope } from './caller.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no API key. */
    isPublic?: boolean;
    /** The route needs the key of the installation, and no organization. */
    isAdmin?: boolean;
    /** The scope that a key needs. Every route has one that is neither public, nor open to any key, nor for administration. */
    scope?: Scope;
    /** Any valid key or session will do. */
    needsNoScope?: boolean;
    /** The key may be sent as the password of Basic authentication, for third-party clients that support nothing else. */
    acceptsBasicAuth?: boolean;
    /** The key may be sent as log shippers do: Basic, Elasticsearch's `ApiKey` and `Splunk`. */
    acceptsShipperAuth?: boolean;
    /** The response field that contains a secret. A replay by Idempotency-Key returns null in it. */
    secretField?: string;
    /** The media type of errors. Default: `application/problem+json`. */
    errorType?: string;
    /** The route has no body. A body that is sent is ignored. */
    ignoresBody?: boolean;
    /** The body of a route that parses it itself, for the OpenAPI document. */
    bodyContent?: Record<string, MediaType>;
    /** The body may be missing and then counts as `{}`. */
    isBodyOptional?: boolean;
    /** The route compares `If-Match` with the record's version. */
    acceptsIfMatch?: boolean;
    /** A GET that writes, or that reports on the primary. It does not use the read replica. */
    usesPrimary?: boolean;
    /** Unknown query parameters are ignored, with a warning if the response has `warnings`. Every other route rejects them. */
    ignoresUnknownQuery?: boolean;
  }
  interface FastifyInstance {
    /** The path of the service at its public address without a slash at the end, such as `/tocsin`. Empty for the root of a host. */
    basePath: string;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Returns the authenticated caller. Throws 401 on a public route, which has none. */
export function requireCaller(request: FastifyRequest): Caller {
  if (!request.caller) throw appError('unauthorized', 'This route requires an API key.');
  return request.caller;
}

/** The parts of an OpenAPI document that the service completes. Schemas are JSON Schema, whose keywords are not typed here. */
export type JsonSchema = { [keyword: string]: unknown };

export type MediaType = { schema?: JsonSchema; example?: unknown };

export type Operation = {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: object[];
  parameters?: (
    | { $ref: string }
    | { name: string; in: string; required?: boolean; schema: JsonSchema; example?: unknown }
  )[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, { $ref: string } | { description: string; content?: Record<string, MediaType> }>;
};

export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses?: Record<string, unknown>;
    parameters?: Record<string, unknown>;
  };
  webhooks?: Record<string, unknown>;
};

/** A request and its response as the service answered it, with long lists cut. */
export type ApiExample = { parameters?: Record<string, string>; request?: unknown; response: unknown };

/** Examples by the ID of the operation. */
export type ApiExamples = Record<string, ApiExample>;
