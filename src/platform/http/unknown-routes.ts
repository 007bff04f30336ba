import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '../lib/errors.ts';
import type { App } from './app-type.ts';

const byId = /\/:(?:id|\w+Id)$/;

/** `isById`: the path ends with an ID, which no literal end of another route is. */
type KnownRoute = { methods: Set<string>; matches: RegExp; isById: boolean };

/**
 * Handles requests without a route: 405 with `Allow` for a known path, 204 for OPTIONS with a valid key, otherwise 404. A path that is a route of
 * its own is none of the routes of an ID.
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
