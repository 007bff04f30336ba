import { Readable } from 'node:stream';
import { readChunks, sendRequest } from './send-request.ts';
import { ExternalError } from '../external-error.ts';

const bytesMax = 8 * 1024 * 1024;

/**
 * Returns a `fetch` for libraries that receive an address from the API. It reaches only public hosts and those in `allow`, at the
 * address that was checked. Redirects are errors. Responses are limited to 8 MiB.
 */
export function publicFetch(allow: readonly string[]) {
  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ?? new AbortController().signal;
    const headers = Object.fromEntries(new Headers(init.headers));
    const isText = typeof init.body === 'string' || init.body instanceof URLSearchParams;
    const body = isText ? Buffer.from(String(init.body)) : undefined;
    if (init.body !== undefined && init.body !== null && !body) throw new Error('only text bodies are supported');
    const length = body ? { 'content-length': String(body.length) } : {};
    const request = { method: init.method ?? 'GET', headers: { ...headers, ...length }, body, allow };
    const response = await sendRequest(new URL(input), request, signal);
    const status = response.statusCode ?? 0;
    if (status >= 300 && status < 400) {
      response.destroy();
      throw new ExternalError(`${new URL(input).host} responded with a redirect, which is not followed`);
    }
    const responseInit = { status, headers: toHeaderList(response.headers) };
    if (status === 204 || status === 205) {
      response.destroy();
      return new Response(null, responseInit);
    }
    const stream = Readable.toWeb(
      Readable.from(limitBytes(readChunks(response))),
    ) as unknown as ReadableStream<Uint8Array>;
    return new Response(stream, responseInit);
  };
}

async function* limitBytes(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bytesMax) throw new ExternalError(`the response is larger than ${bytesMax} bytes`);
    yield chunk;
  }
}

const toHeaderList = (headers: NodeJS.Dict<string | string[]>): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((item): [string, string] => [name, item]),
  );
