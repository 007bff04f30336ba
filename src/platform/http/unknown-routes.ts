import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '../lib/errors.ts';
import type { App } from './app-type.ts';

type KnownRoute = { methods: Set<string>; matches: RegExp };

/** Handles requests without a route: 405 with `Allow` for a known path, 204 for OPTIONS with a valid key, otherwise 404. */
export function handleUnknownRoutes(app: App): void {
  const known = new Map<string, KnownRoute>();
  app.addHook('onRoute', ({ url, method }) => {
    const route = known.get(url) ?? { methods: new Set(['OPTIONS']), matches: pathPattern(url) };
    for (const name of [method].flat()) route.methods.add(name);
    known.set(url, route);
  });
  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?')[0]!.replace(/(.)\/$/, '$1');
    const methods = [
      ...new Set(
        [...known.values()].filter((route) => route.matches.test(path)).flatMap((route) => [...route.methods]),
      ),
    ].toSorted();
    if (methods.length === 0) throw appError('not_found', 'This address does not exist.');
    const headers = { allow: methods.join(', ') };
    if (request.method === 'OPTIONS') return reply.code(204).headers(headers).send();
    // A route that serves files ends here if the file does not exist.
    if (methods.includes(request.method)) throw appError('not_found', 'This address does not exist.');
    throw appError('method_not_allowed', `${request.method} is not allowed at this address.`, { headers });
  });
}

function pathPattern(url: string): RegExp {
  const escaped = url
    .replace(/(.)\/$/, '$1')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\/:[^/]+/g, '/[^/]+')
    .replace(/\*/g, '.*');
  return new RegExp(`^${escaped}$`);
}
