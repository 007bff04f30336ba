import type { FastifyRequest } from 'fastify';
import type { App } from './app-type.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { escapePointer, JsonLimitError, parseJsonInSlices, type JsonLimits } from '../lib/json/parse-in-slices.ts';
import { startSlices } from '../lib/concurrency/slices.ts';

/** Rejects query and path parameters with characters that the database cannot store. */
export function registerParameterCheck(app: App): void {
  app.addHook('preValidation', async ({ raw, query, params }) => {
    // Only percent-encoding can carry such characters, so other requests are not checked.
    if (!raw.url?.includes('%')) return;
    await rejectUnstorableText(query, 'query');
    await rejectUnstorableText(params, 'path');
  });
}

/** Parses JSON bodies in strict UTF-8. An empty body counts as missing, which is an error if the route requires one. */
export function registerJsonBodies(app: App): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
    request.routeOptions.config.ignoresBody && body.length === 0 ? undefined : parseJsonBody(body),
  );
  app.addHook('onRoute', (route) => {
    const { ignoresBody, isBodyOptional } = route.config ?? {};
    if (!ignoresBody && !isBodyOptional && !route.schema?.body) return;
    route.preValidation = [...[route.preValidation ?? []].flat(), checkBody];
  });
}

async function checkBody(request: FastifyRequest): Promise<void> {
  const { ignoresBody, isBodyOptional } = request.routeOptions.config;
  if (ignoresBody) request.body = undefined;
  if (isBodyOptional) request.body ??= {};
  if (!request.routeOptions.schema?.body) return;
  if (request.body === undefined) throw fieldError('', 'required', 'A JSON body is required.');
  await rejectUnstorableText(request.body);
}

/** More than any field accepts. Validation itself runs in one go, so that what it gets is bounded. */
const limits: JsonLimits = { depthMax: 100, elementsMax: 20_000, fieldsMax: 5_000 };

const limitErrors: Record<keyof JsonLimits, [string, string]> = {
  depthMax: ['too_deep', `The body has more than ${limits.depthMax} levels of objects and arrays.`],
  elementsMax: ['too_many', `The array has more than ${limits.elementsMax} elements.`],
  fieldsMax: ['too_many', `The object has more than ${limits.fieldsMax} fields.`],
};

/** Parses a body in slices. Throws malformed_json unless it is one JSON value in UTF-8, and validation_failed if it exceeds a limit. */
export async function parseJsonBody(body: Buffer): Promise<unknown> {
  if (body.length === 0) return undefined;
  try {
    return await parseJsonInSlices(new TextDecoder('utf-8', { fatal: true }).decode(body), limits);
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw appError('malformed_json', 'The body is not valid JSON in UTF-8.');
    throw fieldError(error.pointer.slice(0, 300), ...limitErrors[error.limit]);
  }
}

/**
 * Throws a 400 with a pointer to the first text that contains U+0000 or a lone surrogate, which PostgreSQL cannot store. Iterative, so
 * that deep nesting cannot overflow the stack, and in slices.
 */
async function rejectUnstorableText(input: unknown, rootPointer = ''): Promise<void> {
  const nextSlice = startSlices();
  const pending: { value: unknown; pointer: string }[] = [{ value: input, pointer: rootPointer }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const pause = nextSlice();
    if (pause) await pause;
    const { value, pointer } = next;
    if (typeof value === 'string') {
      if (isUnstorable(value)) throw fieldError(pointer, 'invalid_text', 'U+0000 and lone surrogates are not allowed.');
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) pending.push({ value: item, pointer: `${pointer}/${index}` });
    } else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value)) {
        if (isUnstorable(key))
          throw fieldError(pointer, 'invalid_text', 'U+0000 and lone surrogates are not allowed in names.');
        pending.push({ value: item, pointer: `${pointer}/${escapePointer(key)}` });
      }
    }
  }
}

const isUnstorable = (text: string): boolean => text.includes('\u0000') || !text.isWellFormed();
