import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '../../lib/errors.ts';
import type { App } from '../app-type.ts';

const prefix = '/console/';

/**
 * The content that the console's pages may load: their own scripts, styles, fonts and API, and nothing else. No inline script, no other host, and no
 * page that frames them.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Redirects browsers from `/` to the console. Must be registered before authentication. Other clients get the usual answer at `/`. */
export function redirectBrowsers(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.url !== '/' || request.method !== 'GET' || !request.headers.accept?.includes('text/html'))
      return done();
    void reply.redirect(`${app.basePath}${prefix}`);
  });
}

/**
 * Serves the built console from `root` below `/console/`. Assets have a hash in their names and are cached for good; pages are revalidated at each
 * visit. Every address without a file is a page of the console, which routes itself.
 */
export async function registerConsole(app: App, root: string): Promise<void> {
  if (!existsSync(root)) {
    app.get(`${prefix}*`, { config: { isPublic: true }, schema: { hide: true } }, () => {
      throw appError('not_found', 'The console is not built. Run: npm run build');
    });
    return;
  }
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, isPublic: true };
      route.schema = { ...route.schema, hide: true };
    });
    scope.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', contentSecurityPolicy);
    });
    // The routes below decide which file answers and for how long it is cached.
    await scope.register(fastifyStatic, { root, serve: false, preCompressed: true, cacheControl: false });
    const sendIndex = createPageSender(root, app.basePath);
    const sendPage = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
      sendIndex(reply.header('cache-control', 'no-cache'));
    scope.get('/console', sendPage);
    scope.get(`${prefix}*`, (request, reply) => {
      const { '*': path } = request.params as { '*': string };
      if (!path.startsWith('assets/')) return sendPage(request, reply);
      return reply.sendFile(path, root, { cacheControl: true, maxAge: '365d', immutable: true });
    });
  });
}

/**
 * Returns a function that sends the built page `index.html` of a folder that is served. Its addresses begin at the root of the host: with
 * `basePath`, the path of the service at its public address such as `/tocsin`, they begin there.
 */
export function createPageSender(root: string, basePath: string): (reply: FastifyReply) => FastifyReply {
  if (basePath === '') return (reply) => reply.sendFile('index.html', root);
  const page = readFileSync(join(root, 'index.html'), 'utf8').replaceAll('="/', `="${basePath}/`);
  return (reply) => reply.type('text/html; charset=utf-8').send(page);
}
