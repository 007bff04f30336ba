import { parseExactJson } from '../../../platform/lib/json/exact-json.ts';
import { sendRequest } from '../../../platform/lib/outbound-http/send-request.ts';
import { SiemError } from '../connector.ts';
import { ResponseTooLargeError, httpStatusError, upstreamError } from '../siem-errors.ts';

/** A server that is asked. `base` may have a path; `ca` is a PEM certificate to trust beside the public ones. */
export type SiemServer = {
  base: string;
  headers: Record<string, string>;
  allow: readonly string[];
  ca?: string | undefined;
};

export type SiemRequest = {
  method?: 'GET' | 'POST';
  path: string;
  query?: Record<string, string>;
  /** Sent as JSON; a string as it is; URLSearchParams as a form. */
  body?: unknown;
  headers?: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
};

export type SiemResponse = { status: number; text: string; header: (name: string) => string | undefined };

const bytesMax = 128 * 1024 * 1024;

/** One request and its whole answer, whatever the status. Throws a SiemError where there is no answer; redirects are not followed. */
export async function sendSiemRequest(server: SiemServer, given: SiemRequest): Promise<SiemResponse> {
  const url = new URL(server.base.replace(/\/+$/, '') + given.path);
  for (const [name, value] of Object.entries(given.query ?? {})) url.searchParams.set(name, value);
  const timeout = AbortSignal.timeout(given.timeoutMs);
  const signal = AbortSignal.any([timeout, given.signal]);
  try {
    const { type, body } = bodyOf(given.body);
    const headers = {
      accept: 'application/json',
      ...(type ? { 'content-type': type } : {}),
      ...(body ? { 'content-length': String(body.length) } : {}),
      ...server.headers,
      ...given.headers,
    };
    const method = given.method ?? (body ? 'POST' : 'GET');
    const response = await sendRequest(url, { method, headers, body, allow: server.allow, ca: server.ca }, signal);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
      size += (chunk as Buffer).length;
      if (size > bytesMax) throw new ResponseTooLargeError();
      chunks.push(chunk as Buffer);
    }
    if (!response.complete) throw upstreamError('cut_off', `${url.host} cut its answer off.`, true);
    return {
      status: response.statusCode ?? 0,
      text: Buffer.concat(chunks).toString('utf8'),
      header: (name) => [response.headers[name]].flat()[0],
    };
  } catch (error) {
    given.signal.throwIfAborted();
    if (error instanceof SiemError) throw error;
    if (timeout.aborted)
      throw upstreamError('timeout', `${url.host} gave no answer within ${given.timeoutMs / 1000} s.`, true);
    throw upstreamError('unreachable', error instanceof Error ? error.message : String(error), true);
  }
}

/**
 * The JSON of a 200, an object with these lists, its whole numbers beyond 2^53 as text; anything else is a SiemError, the engine's own
 * words read by `fault` before the status is.
 */
export async function requestJson<T>(
  server: SiemServer,
  given: SiemRequest,
  fault: (answer: SiemResponse) => SiemError | undefined,
  ...lists: string[]
): Promise<T> {
  const answer = await sendSiemRequest(server, given);
  const { host } = new URL(server.base);
  if (answer.status !== 200) throw fault(answer) ?? httpStatusError(answer.status, host, '');
  const value = parseJsonObject(server, answer.text) as Record<string, unknown>;
  const absent = lists.find((name) => !Array.isArray(value[name]));
  if (absent !== undefined) throw upstreamError('unexpected_answer', `${host} answered without a list "${absent}".`);
  return value as T;
}

/** The object that a text is in JSON. */
export function parseJsonObject(server: SiemServer, text: string): object {
  const value = tryParseJson(text);
  if (value !== null && typeof value === 'object') return value;
  const { host } = new URL(server.base);
  throw upstreamError('unexpected_answer', `${host} answered with something that is no JSON object.`);
}

/** The value of a text that may be JSON; undefined where it is not. */
export function tryParseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function bodyOf(body: unknown): { type?: string; body: Buffer | undefined } {
  if (body === undefined) return { body: undefined };
  if (typeof body === 'string') return { type: 'text/plain; charset=utf-8', body: Buffer.from(body) };
  if (body instanceof URLSearchParams)
    return { type: 'application/x-www-form-urlencoded', body: Buffer.from(body.toString()) };
  return { type: 'application/json', body: Buffer.from(JSON.stringify(body)) };
}
