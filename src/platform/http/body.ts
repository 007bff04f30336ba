import type { FastifyRequest } from 'fastify';
import type { App } from './app-type.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { escapePointer, JsonLimitError, parseJsonInSlices, type JsonLimits } from '../lib/json/parse-in-slices.ts';
import { isStorable } from '../lib/text/storable-text.ts';
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
  await replaceUnstorableText(request.body);
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

type Text = { value: string; pointer: string; replace: (text: string) => void };

/**
 * Iterates over the texts of a parsed JSON value in slices. Iterative, so that deep nesting cannot overflow the stack. Throws a 400 for a name
 * that PostgreSQL cannot store.
 */
async function visitTexts(input: unknown, rootPointer: string, visit: (text: Text) => void): Promise<void> {
  const nextSlice = startSlices();
  const pending: { value: object; pointer: string }[] = isNested(input) ? [{ value: input, pointer: rootPointer }] : [];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const pause = nextSlice();
    if (pause) await pause;
    const { value: parent, pointer } = next;
    const fields = parent as Record<string, unknown>;
    for (const key of Object.keys(fields)) {
      const value = fields[key];
      if (!isStorable(key)) throw unstorable(pointer, ' in names');
      const at = `${pointer}/${escapePointer(key)}`;
      if (typeof value === 'string') visit({ value, pointer: at, replace: (text) => void (fields[key] = text) });
      else if (isNested(value)) pending.push({ value, pointer: at });
    }
  }
}

const isNested = (value: unknown): value is object => value !== null && typeof value === 'object';

const unstorable = (pointer: string, place = ''): Error =>
  fieldError(pointer, 'invalid_text', `U+0000 and lone surrogates are not allowed${place}.`);

/** Throws a 400 with a pointer to the first parameter with U+0000 or a lone surrogate, which PostgreSQL cannot store. */
const rejectUnstorableText = (input: unknown, rootPointer: string): Promise<void> =>
  visitTexts(input, rootPointer, ({ value, pointer }) => {
    if (!isStorable(value)) throw unstorable(pointer);
  });

/** Fields with code, whose meaning a replaced character would change. */
const codeFields = /\/(?:\w*[qQ]uery|rules)$/;

/** Replaces U+0000 and lone surrogates with U+FFFD in the texts of a body. Throws a 400 with a pointer for such a character in code. */
const replaceUnstorableText = (body: unknown): Promise<void> =>
  visitTexts(body, '', ({ value, pointer, replace }) => {
    if (isStorable(value)) return;
    if (codeFields.test(pointer)) throw unstorable(pointer, ' in queries and rules');
    replace(value.toWellFormed().replaceAll('\u0000', '\uFFFD'));
  });
