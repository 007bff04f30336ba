import { withoutTrailingSlashes } from '../../platform/lib/outbound-http/addresses.ts';
import { parseExactJson } from '../../platform/lib/json/json-values.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import { readChunks, sendRequest } from '../../platform/lib/outbound-http/send-request.ts';
import { SiemError, type DatasetFields } from './connector.ts';
import { ResponseTooLargeError, httpStatusError, upstreamError } from './siem-errors.ts';

/** The server of a SIEM. `base` may have a path. `ca` is a PEM certificate to trust in addition to the public ones. */
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
  /** Sent as JSON, as plain text if a string, or as a form if URLSearchParams. */
  body?: unknown;
  headers?: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
};

export type SiemResponse = { status: number; text: string; header: (name: string) => string | undefined };

const bytesMax = 128 * 1024 * 1024;

/** Sends a request and returns the whole response with any status. Does not follow redirects. Throws a SiemError if there is no response. */
export async function sendSiemRequest(server: SiemServer, request: SiemRequest): Promise<SiemResponse> {
  const url = new URL(withoutTrailingSlashes(server.base) + request.path);
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([timeout, request.signal]);
  try {
    const { type, body } = encodeBody(request.body);
    const headers = {
      accept: 'application/json',
      ...(type ? { 'content-type': type } : {}),
      ...(body ? { 'content-length': String(body.length) } : {}),
      ...server.headers,
      ...request.headers,
    };
    const method = request.method ?? (body ? 'POST' : 'GET');
    const response = await sendRequest(url, { method, headers, body, allow: server.allow, ca: server.ca }, signal);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of readChunks(response)) {
      size += chunk.length;
      if (size > bytesMax) throw new ResponseTooLargeError();
      chunks.push(chunk);
    }
    if (!response.complete)
      throw upstreamError('cut_off', `${url.host} closed the connection before the end of the response.`, true);
    return {
      status: response.statusCode ?? 0,
      text: Buffer.concat(chunks).toString('utf8'),
      header: (name) => [response.headers[name]].flat()[0],
    };
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof SiemError) throw error;
    if (timeout.aborted)
      throw upstreamError('timeout', `${url.host} did not respond within ${request.timeoutMs / 1000} s.`, true);
    throw error instanceof ExternalError ? upstreamError('unreachable', error.message, true) : error;
  }
}

/**
 * Returns the JSON object of a 200 response that contains `lists`, with integers beyond 2^53 as text. Otherwise throws a SiemError, which
 * `toError` reads from the engine's message, else from the status.
 */
export async function requestJson<T>(
  server: SiemServer,
  request: SiemRequest,
  toError: (response: SiemResponse) => SiemError | undefined,
  ...lists: string[]
): Promise<T> {
  const response = await sendSiemRequest(server, request);
  const { host } = new URL(server.base);
  if (response.status !== 200) throw toError(response) ?? httpStatusError(response.status, host, '');
  const value = parseJsonObject(server, response.text) as Record<string, unknown>;
  const missing = lists.find((name) => !Array.isArray(value[name]));
  if (missing !== undefined) throw upstreamError('unexpected_answer', `${host} returned no list "${missing}".`);
  return value as T;
}

/** Parses a JSON object. Throws a SiemError if the text is something else. */
export function parseJsonObject(server: SiemServer, text: string): object {
  const value = tryParseJson(text);
  if (value !== null && typeof value === 'object') return value;
  const { host } = new URL(server.base);
  throw upstreamError('unexpected_answer', `${host} returned something other than a JSON object.`);
}

/** Parses JSON. Returns undefined if the text is invalid. */
export function tryParseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function encodeBody(body: unknown): { type?: string; body: Buffer | undefined } {
  if (body === undefined) return { body: undefined };
  if (typeof body === 'string') return { type: 'text/plain; charset=utf-8', body: Buffer.from(body) };
  if (body instanceof URLSearchParams)
    return { type: 'application/x-www-form-urlencoded', body: Buffer.from(body.toString()) };
  return { type: 'application/json', body: Buffer.from(JSON.stringify(body)) };
}

type Caps = { fields?: Record<string, Record<string, { metadata_field?: boolean }>> };

/** Lists the fields of an index pattern by `_field_caps`, which Elasticsearch and OpenSearch share. */
export async function fetchFieldCaps(
  server: SiemServer,
  index: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  toError: Parameters<typeof requestJson>[2],
): Promise<DatasetFields[]> {
  const query = { fields: '*', ignore_unavailable: 'true', allow_no_indices: 'true' };
  const path = `/${encodeURIComponent(index)}/_field_caps`;
  const { fields = {} } = await requestJson<Caps>(server, { path, query, timeoutMs, signal }, toError);
  const list = Object.entries(fields)
    .filter(([, types]) => !Object.values(types).some((type) => type.metadata_field))
    .map(([name, types]) => ({ name, type: Object.keys(types).join(' or ') }));
  return [{ dataset: index, fields: list.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }];
}
