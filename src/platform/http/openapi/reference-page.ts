import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import { appError } from '../../lib/errors.ts';
import type { App } from '../app-type.ts';
import { createPageSender } from '../responses/console-files.ts';

/** The page loads only its own files and calls only this service. Its component writes inline styles. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the reference of the API at `/docs`, from the built files of the console. */
export async function registerReference(app: App, webRoot: string): Promise<void> {
  const root = join(webRoot, 'reference');
  if (!existsSync(root)) {
    app.get('/docs', { config: { isPublic: true }, schema: { hide: true } }, () => {
      throw appError('not_found', 'The reference is not built. Run: npm run build');
    });
    return;
  }
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, isPublic: true };
      route.schema = { ...route.schema, hide: true };
    });
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' });
    });
    await scope.register(fastifyStatic, {
      root,
      prefix: '/docs/',
      index: false,
      preCompressed: true,
      cacheControl: false,
    });
    const sendPage = createPageSender(root, app.basePath);
    scope.get('/docs', (_request, reply) => sendPage(reply));
  });
}
