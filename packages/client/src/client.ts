import createOpenApiClient from 'openapi-fetch';
import { toClientError } from './client-error.ts';
import type { Entry, InitArguments, ListPath, Method, PagedPath, ResponseBody, Send } from './operation-types.ts';
import { entriesOf, readPages } from './pages.ts';
import { fetchWithRetries, type RetryOptions } from './retries.ts';

export { TocsinError, type FieldError, type RecordChange, type StaleChanges } from './client-error.ts';
export type { ListPath, PagedPath, RequestOptions, ResponseBody } from './operation-types.ts';
export type { components, operations, paths } from './schema.d.ts';

export type ClientOptions = {
  /** Where the service is, such as `https://tocsin.example`. */
  url: string;
  /** An API key. Public operations need none. */
  apiKey?: string | undefined;
  /** Further headers of every request. */
  headers?: Record<string, string>;
} & Partial<RetryOptions>;

/** The API of a service. Every method throws a `TocsinError` for a response that is not a success. */
export type Client = {
  get: Send<'get'>;
  /** A POST has an `Idempotency-Key` of its own unless it sets one, so that a retry changes nothing twice. */
  post: Send<'post'>;
  put: Send<'put'>;
  delete: Send<'delete'>;
  /** Yields every entry of a list, page by page. */
  list: <P extends ListPath>(path: P, ...init: InitArguments<'get', P>) => AsyncGenerator<Entry<P>, void, undefined>;
  /** Yields every page of a list or of an export. */
  pages: <P extends PagedPath>(
    path: P,
    ...init: InitArguments<'get', P>
  ) => AsyncGenerator<ResponseBody<'get', P>, void, undefined>;
};

/** `params` and `body` as the operation defines them. The public types check them. */
type AnyInit = {
  params?: { query?: Record<string, unknown> };
  headers?: Record<string, string>;
  timeoutMs?: number;
  signal?: AbortSignal;
};
type AnyRequest = (method: string, path: string, init: object) => Promise<{ error?: unknown; response: Response }>;

/** Creates a client of a service. It keeps no connection open and needs no closing. */
export function createClient({ url, apiKey, headers, ...options }: ClientOptions): Client {
  const defaults: RetryOptions = { retriesMax: 3, timeoutMs: 60_000, fetch: globalThis.fetch, ...options };
  const http = createOpenApiClient({
    baseUrl: url,
    headers: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers },
    bodySerializer: (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body)),
  });
  const request = async (method: Method, path: string, init: AnyInit = {}) => {
    const { timeoutMs = defaults.timeoutMs, ...rest } = init;
    const { error, response } = await (http.request as AnyRequest)(method, path, {
      ...rest,
      headers: { ...headersOf(method, init), ...init.headers },
      parseAs: 'stream',
      fetch: (one: Request) => fetchWithRetries(one, { ...defaults, timeoutMs }),
    });
    if (!response.ok) throw toClientError(error, response);
    return { body: await readBody(response), headers: response.headers };
  };
  const send = (method: Method) => async (path: string, init?: AnyInit) => (await request(method, path, init)).body;
  const pages = (path: string, init: AnyInit = {}) =>
    readPages(
      (query) => request('get', path, { ...init, params: { ...init.params, query } }),
      init.params?.query ?? {},
    );
  async function* list(path: string, init?: AnyInit) {
    for await (const page of pages(path, init)) yield* entriesOf(page);
  }
  return {
    get: send('get'),
    post: send('post'),
    put: send('put'),
    delete: send('delete'),
    list,
    pages,
  } as Client;
}

function headersOf(method: Method, init: AnyInit): Record<string, string> {
  return {
    ...(method === 'post' && { 'idempotency-key': crypto.randomUUID() }),
    ...('body' in init && typeof init.body === 'string' && { 'content-type': 'application/x-ndjson' }),
  };
}

/** Returns the body of a successful response: the parsed value of JSON, the text of any other format, or undefined if it is empty. */
async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  return /[/+]json\b/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}
