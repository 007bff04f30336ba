import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply } from 'fastify';

/**
 * Returns a function that sends the built page `index.html` of a folder that is served. Its addresses begin at the root of the host: with
 * `basePath`, the path of the service at its public address such as `/tocsin`, they begin there.
 */
export function createPageSender(root: string, basePath: string): (reply: FastifyReply) => FastifyReply {
  if (basePath === '') return (reply) => reply.sendFile('index.html', root);
  const page = readFileSync(join(root, 'index.html'), 'utf8').replaceAll('="/', `="${basePath}/`);
  return (reply) => reply.type('text/html; charset=utf-8').send(page);
}
