import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '../lib/errors.ts';
import type { App } from './app-type.ts';

type KnownRoute = { methods: Set<string>; matches: RegExp };

/** Answers what no route takes: 405 with `Allow` for a known path, 204 for OPTIONS with a key, else 404. */
export function answerUnknownRoutes(app: App): void {
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
    if (methods.length === 0) throw appError('not_found', 'There is nothing at this address.');
    const headers = { allow: methods.join(', ') };
    if (request.method === 'OPTIONS') return reply.code(204).headers(headers).send();
    throw appError('method_not_allowed', `${request.method} is not allowed here.`, { headers });
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
