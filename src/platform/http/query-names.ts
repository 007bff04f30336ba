import type { FastifyRequest } from 'fastify';
import { appError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text/nearest-names.ts';
import type { App } from './app-type.ts';

type UnknownName = { pointer: string; code: string; detail: string };

/**
 * Rejects query parameters that a route does not have, with the nearest name. A mistyped filter would otherwise match everything. Routes
 * with `ignoresUnknownQuery` accept any name, and report it in the `warnings` of their response if it has them. Routes without a key accept
 * any name as well.
 */
export function registerQueryNameCheck(app: App): void {
  // Validation removes unknown names from the query.
  const ignored = new WeakMap<FastifyRequest, UnknownName[]>();
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
