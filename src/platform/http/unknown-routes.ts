import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '../lib/errors.ts';
import type { App } from './app-type.ts';
import { didYouMean } from '../lib/text/nearest-names.ts';

const byId = /\/:(?:id|\w+Id)$/;

/** `isById`: the path ends with a parameter for an ID. */
type KnownRoute = { methods: Set<string>; matches: RegExp; isById: boolean };

/**
 * Handles requests without a route: 405 with `Allow` for a known path, 204 for OPTIONS with a valid key, otherwise 404. A literal path takes
 * precedence over a path with an ID: `DELETE /api/detections/export` is a 405, although `DELETE /api/detections/{id}` exists.
 */
export function handleUnknownRoutes(app: App): void {
  const known = new Map<string, KnownRoute>();
  const literalEnds = new Set<string>();
  app.addHook('onRoute', ({ url, method }) => {
    const route = known.get(url) ?? {
      methods: new Set(['OPTIONS']),
      matches: pathPattern(url),
      isById: byId.test(url),
    };
    for (const name of [method].flat()) route.methods.add(name);
    known.set(url, route);
    literalEnds.add(url.split('/').at(-1)!);
  });
  const listMethods = (request: FastifyRequest): string[] => {
    const path = request.url.split('?')[0]!.replace(/(.)\/$/, '$1');
    const routes = [...known.values()].filter((route) => route.matches.test(path));
    const own = routes.filter(({ isById }) => !isById);
    return [...new Set((own.length > 0 ? own : routes).flatMap(({ methods }) => [...methods]))].toSorted();
  };
  app.addHook('preValidation', async (request) => {
    const { url } = request.routeOptions;
    const last = request.url.split('?')[0]!.split('/').at(-1)!;
    if (url === undefined || !byId.test(url) || !literalEnds.has(last)) return;
    const methods = listMethods(request);
    if (!methods.includes(request.method)) throw notAllowed(request, methods);
  });
  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const methods = listMethods(request);
    if (methods.length === 0) throw appError('not_found', 'This address does not exist.');
    if (request.method === 'OPTIONS') return reply.code(204).header('allow', methods.join(', ')).send();
    // A route that serves files ends here if the file does not exist.
    if (methods.includes(request.method)) throw appError('not_found', 'This address does not exist.');
    throw notAllowed(request, methods);
  });
}

const notAllowed = ({ method }: FastifyRequest, methods: string[]): Error =>
  appError('method_not_allowed', `${method} is not allowed at this address.`, {
    headers: { allow: methods.join(', ') },
  });

function pathPattern(url: string): RegExp {
  const escaped = url
    .replace(/(.)\/$/, '$1')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\/:[^/]+/g, '/[^/]+')
    .replace(/\*/g, '.*');
  return new RegExp(`^${escaped}$`);
}

type UnknownName = { pointer: string; code: string; detail: string };

// Validation removes unknown names from the query.
const ignored = new WeakMap<FastifyRequest, UnknownName[]>();

/** Returns whether the response of a request gets warnings about its parameters, so that it cannot be sent as stored bytes. */
export const hasIgnoredNames = (request: FastifyRequest): boolean => ignored.has(request);

/**
 * Rejects query parameters that a route does not have, with the nearest name. A mistyped filter would otherwise match everything. Routes
 * with `ignoresUnknownQuery` accept any name and report it in the `warnings` of their response, if its schema has that field. Routes without a
 * key accept any name as well.
 */
export function registerQueryNameCheck(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const { query, is404, routeOptions } = request;
    const { config, schema } = routeOptions;
    if (is404 || config.isPublic) return done();
    const unknown = findUnknownNames(query, schema?.querystring);
    const [first] = unknown;
    if (!first) return done();
    if (!config.ignoresUnknownQuery)
      return done(appError('validation_failed', first.detail, { errors: unknown.slice(0, 100) }));
    const { [200]: returns } = (schema?.response ?? {}) as Record<number, unknown>;
    if (listNames(returns).includes('warnings')) ignored.set(request, unknown.slice(0, 100));
    done();
  });
  app.addHook('preSerialization', (request, { statusCode }, payload, done) => {
    const unknown = ignored.get(request);
    if (!unknown || statusCode !== 200) return done(null, payload);
    const body = payload as { warnings?: unknown[] };
    const warnings = unknown.map(({ code, pointer, detail }) => ({ code, field: pointer, detail }));
    done(null, { ...body, warnings: [...(body.warnings ?? []), ...warnings] });
  });
}

function findUnknownNames(query: unknown, schema: unknown): UnknownName[] {
  const given = Object.keys((query ?? {}) as Record<string, unknown>);
  if (given.length === 0) return [];
  const known = listNames(schema);
  return given
    .filter((name) => !known.includes(name))
    .map((name) => ({
      pointer: `query/${name}`,
      code: 'unknown_parameter',
      detail: `This route has no query parameter ${name}${didYouMean(name, known)}`,
    }));
}

/** Returns the names of a schema, which is a zod object. */
const listNames = (schema: unknown): string[] =>
  Object.keys((schema as { shape?: Record<string, unknown> } | undefined)?.shape ?? {});
