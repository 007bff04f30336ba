import { appError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text/nearest-names.ts';
import type { App } from './app-type.ts';

/**
 * Rejects query parameters that a route does not have, with the nearest name. A mistyped filter would otherwise match everything. Routes
 * with `ignoresUnknownQuery` and routes without a key accept any name.
 */
export function registerQueryNameCheck(app: App): void {
  app.addHook('preValidation', ({ query, is404, routeOptions: { config, schema } }, _reply, done) => {
    if (is404 || config.isPublic || config.ignoresUnknownQuery) return done();
    const given = Object.keys(query as Record<string, unknown>);
    if (given.length === 0) return done();
    const known = listNames(schema?.querystring);
    const errors = given
      .filter((name) => !known.includes(name))
      .map((name) => ({
        pointer: `query/${name}`,
        code: 'unknown_parameter',
        detail: `This route has no query parameter ${name}${didYouMean(name, known)}`,
      }));
    const [first] = errors;
    done(first && appError('validation_failed', first.detail, { errors: errors.slice(0, 100) }));
  });
}

/** Returns the names of a query schema, which is always a zod object. */
const listNames = (schema: unknown): string[] =>
  Object.keys((schema as { shape?: Record<string, unknown> } | undefined)?.shape ?? {});
