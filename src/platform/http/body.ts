import type { FastifyRequest } from 'fastify';
import type { App } from './app-type.ts';
import { appError, fieldError } from '../lib/errors.ts';

/** Rejects query and path parameters with characters that the database cannot store. */
export function registerParameterCheck(app: App): void {
  app.addHook('preValidation', ({ raw, query, params }, _reply, done) => {
    // Only percent-encoding can carry such characters, so other requests are not checked.
    if (raw.url?.includes('%')) {
      rejectUnstorableText(query, 'query');
      rejectUnstorableText(params, 'path');
    }
    done();
  });
}

/** Parses JSON bodies in strict UTF-8. An empty body counts as missing, which is an error if the route requires one. */
export function registerJsonBodies(app: App): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(
        null,
        request.routeOptions.config.ignoresBody && body.length === 0 ? undefined : parseJsonBody(body as Buffer),
      );
    } catch (error) {
      done(error as Error, undefined);
    }
  });
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
  rejectUnstorableText(request.body);
}

/** Parses a body. Throws malformed_json unless it is one JSON value in UTF-8, and validation_failed if it is nested too deep. */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw appError('malformed_json', 'The body is not valid JSON in UTF-8.');
  }
  if (isDeep(body)) rejectDeepNesting(value);
  return value;
}

/** Levels of objects and arrays in a body. Code that follows the levels by recursion must not run out of stack. */
const depthMax = 100;

/** Reports whether valid JSON has more levels than allowed. */
function isDeep(body: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at]!;
    if (byte === quote) at = findEndOfText(body, at + 1);
    else if (byte === 0x5b || byte === 0x7b) depth += 1;
    else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (depth > depthMax) return true;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;

/** Returns the index of the quote that ends a text. */
function findEndOfText(body: Buffer, from: number): number {
  for (let at = from; at < body.length; at += 1) {
    if (body[at] === backslash) at += 1;
    else if (body[at] === quote) return at;
  }
  return body.length;
}

/** Throws a 400 with a pointer to the first value below the last allowed level. Iterative, so that the nesting cannot overflow the stack. */
function rejectDeepNesting(input: unknown): void {
  const pending: { value: unknown; pointer: string; depth: number }[] = [{ value: input, pointer: '', depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, pointer, depth } = next;
    if (value === null || typeof value !== 'object') continue;
    if (depth > depthMax)
      throw fieldError(
        pointer.slice(0, 300),
        'too_deep',
        `The body has more than ${depthMax} levels of objects and arrays.`,
      );
    for (const [key, child] of Object.entries(value))
      if (child !== null && typeof child === 'object')
        pending.push({ value: child, pointer: `${pointer}/${escapePointer(key)}`, depth: depth + 1 });
  }
}

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Throws a 400 with a pointer to the first text that contains U+0000 or a lone surrogate, which PostgreSQL cannot store. Iterative, so
 * that deep nesting cannot overflow the stack.
 */
function rejectUnstorableText(input: unknown, rootPointer = ''): void {
  const pending: { value: unknown; pointer: string }[] = [{ value: input, pointer: rootPointer }];
  for (let next = pending.pop(); next; next = pending.pop()) {
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
