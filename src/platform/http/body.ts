import type { FastifyRequest } from 'fastify';
import type { App } from './app-type.ts';
import { appError, fieldError } from '../lib/errors.ts';

/** No parameter of a query or a path may hold what the database cannot. */
export function checkParameters(app: App): void {
  app.addHook('preValidation', ({ raw, query, params }, _reply, done) => {
    // On the wire only percent-encoding can carry either; the few requests that have some are looked through.
    if (raw.url?.includes('%')) {
      refuseBadText(query, 'query');
      refuseBadText(params, 'path');
    }
    done();
  });
}

/** Reads JSON bodies: strict UTF-8, no prototype keys; an empty one counts as none, and as an error where the route takes one. */
export function readJsonBodies(app: App): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, request.routeOptions.config.noBody && body.length === 0 ? undefined : parseJson(body as Buffer));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  app.addHook('onRoute', (route) => {
    const { noBody, bodyOptional } = route.config ?? {};
    if (!noBody && !bodyOptional && !route.schema?.body) return;
    route.preValidation = [...[route.preValidation ?? []].flat(), settleBody];
  });
}

async function settleBody(request: FastifyRequest): Promise<void> {
  const { noBody, bodyOptional } = request.routeOptions.config;
  if (noBody) request.body = undefined;
  if (bodyOptional) request.body ??= {};
  if (!request.routeOptions.schema?.body) return;
  if (request.body === undefined) throw fieldError('', 'required', 'A JSON body is needed.');
  refuseBadText(request.body);
}

/** Parses a body. Throws malformed_json for anything that is not one JSON value in UTF-8. */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw appError('malformed_json', 'The body is not valid JSON in UTF-8.');
  }
}

/** PostgreSQL holds neither U+0000 nor lone surrogates: 400 with the pointer of the first one. Iterative, so depth cannot hurt. */
function refuseBadText(input: unknown, at = ''): void {
  const open: { value: unknown; pointer: string }[] = [{ value: input, pointer: at }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, pointer } = next;
    if (typeof value === 'string') {
      if (isBadText(value)) throw fieldError(pointer, 'invalid_text', 'U+0000 and lone surrogates are not allowed.');
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) open.push({ value: item, pointer: `${pointer}/${index}` });
    } else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value)) {
        if (isBadText(key))
          throw fieldError(pointer, 'invalid_text', 'U+0000 and lone surrogates are not allowed in names.');
        open.push({ value: item, pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` });
      }
    }
  }
}

const isBadText = (text: string): boolean => text.includes('\u0000') || !text.isWellFormed();
