import { Readable } from 'node:stream';
import { sendTo } from './fetch.ts';

const bytesMax = 8 * 1024 * 1024;

/**
 * `fetch` for a library that is given an address of the API: only public hosts and those that `allow` names are reached, at the address that was
 * checked; a redirect is an error; an answer that does not end is cut off at 8 MiB.
 */
export function publicFetch(allow: readonly string[]) {
  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ?? new AbortController().signal;
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined;
    if (init.body !== undefined && init.body !== null && !body) throw new Error('only a text can be sent');
    const length = body ? { 'content-length': String(body.length) } : {};
    const given = { method: init.method ?? 'GET', headers: { ...headers, ...length }, body, allow };
    const answer = await sendTo(new URL(input), given, signal);
    const status = answer.statusCode ?? 0;
    if (status >= 300 && status < 400) {
      answer.destroy();
      throw new Error(`${new URL(input).host} answered with a redirect, which is not followed`);
    }
    const shown = { status, headers: headersOf(answer.headers) };
    if (status === 204 || status === 205) {
      answer.destroy();
      return new Response(null, shown);
    }
    const stream = Readable.toWeb(Readable.from(limited(answer))) as unknown as ReadableStream<Uint8Array>;
    return new Response(stream, shown);
  };
}

async function* limited(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`);
    yield chunk;
  }
}

const headersOf = (given: NodeJS.Dict<string | string[]>): [string, string][] =>
  Object.entries(given).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));
