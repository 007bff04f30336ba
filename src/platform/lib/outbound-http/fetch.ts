import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { parseRetryAfterMs, readChunks, sendRequest } from './send-request.ts';
import { ExternalError } from '../external-error.ts';

export type FetchRequest = {
  url: string;
  /** Private hosts, addresses and CIDRs that may be reached. */
  allow: readonly string[];
  /** Validators of an earlier response, which make the request conditional: the result may then be `not-modified`. */
  etag?: string | undefined;
  lastModified?: string | undefined;
  accept?: string | undefined;
  /** Additional headers, such as a credential. They are sent to the origin of `url` only, not to the target of a redirect elsewhere. */
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  bytesMax?: number | undefined;
  timeoutMs?: number | undefined;
  redirectsMax?: number;
  /** Receives the response in chunks instead of buffering it: `bytes` is then empty. Returning false stops the download. */
  onChunk?: ((chunk: Buffer) => boolean) | undefined;
};

export type FetchResult =
  | {
      kind: 'fetched';
      bytes: Buffer;
      /** The final address after redirects. */
      url: string;
      contentType: string | undefined;
      etag: string | undefined;
      lastModified: string | undefined;
      headers: IncomingHttpHeaders;
    }
  | { kind: 'not-modified' };

/** A response with a status other than 200, or than 304 for a conditional request. `retryAfterMs` is its Retry-After header. */
export class FetchStatusError extends ExternalError {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  constructor(host: string, status: number, retryAfterMs: number | undefined) {
    super(`${host} responded with status ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const unpackFactor = 4;
const unpackedBytesMax = 128 * 1024 * 1024;
// A buffered response is passed on in chunks as well, yielding to the event loop between them.
const chunkBytes = 256 * 1024;

/**
 * Sends a GET request to a public address, with bounds on size (packed and unpacked), time and redirects. Every host, including those
 * of redirects, is resolved first, and the connection goes to the address that was checked. Throws an `ExternalError`.
 */
export async function fetchBytes(request: FetchRequest): Promise<FetchResult> {
  const timeout = AbortSignal.timeout(request.timeoutMs ?? 60_000);
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
  try {
    return await followRedirects(request, signal);
  } catch (error) {
    if (timeout.aborted) throw new ExternalError('the source took too long to respond', { cause: error });
    if (!request.signal?.aborted && isReset(error))
      throw new ExternalError('the connection was cut off before the whole document arrived', { cause: error });
    throw error;
  }
}

/** Returns whether a response ended early, which Node.js reports as `aborted`. */
const isReset = (error: unknown): boolean =>
  error instanceof ExternalError &&
  error.message === 'aborted' &&
  (error.cause as NodeJS.ErrnoException).code === 'ECONNRESET';

async function followRedirects(request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
  const bytesMax = request.bytesMax ?? 32 * 1024 * 1024;
  const redirectsMax = request.redirectsMax ?? 5;
  let url = new URL(request.url);
  for (let hop = 0; hop <= redirectsMax; hop += 1) {
    const response = await sendGet(url, request, signal);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (status === 304 && (request.etag ?? request.lastModified)) {
      response.destroy();
      return { kind: 'not-modified' };
    }
    if ([301, 302, 303, 307, 308].includes(status) && location) {
      response.destroy();
      url = new URL(location, url);
      continue;
    }
    if (status !== 200) {
      response.destroy();
      throw new FetchStatusError(url.host, status, parseRetryAfterMs(response.headers['retry-after']));
    }
    return {
      kind: 'fetched',
      bytes: await readResponse(response, bytesMax, request.onChunk),
      url: url.href,
      contentType: response.headers['content-type'],
      etag: response.headers.etag,
      lastModified: response.headers['last-modified'],
      headers: response.headers,
    };
  }
  throw new ExternalError(`more than ${redirectsMax} redirects`);
}

function sendGet(url: URL, request: FetchRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const isOrigin = url.origin === new URL(request.url).origin;
  const headers = {
    accept: request.accept ?? '*/*',
    'accept-encoding': request.onChunk ? 'identity' : 'gzip, br',
    ...(isOrigin ? request.headers : {}),
    ...(request.etag ? { 'if-none-match': request.etag } : {}),
    ...(request.lastModified ? { 'if-modified-since': request.lastModified } : {}),
  };
  return sendRequest(url, { method: 'GET', headers, allow: request.allow }, signal);
}

async function readResponse(
  response: IncomingMessage,
  bytesMax: number,
  onChunk: FetchRequest['onChunk'],
): Promise<Buffer> {
  const encoding = response.headers['content-encoding'];
  if (onChunk && !encoding) return streamBody(response, onChunk);
  const bytes = await unpack(
    await readBody(response, bytesMax),
    encoding,
    Math.min(bytesMax * unpackFactor, unpackedBytesMax),
  );
  if (!onChunk) return bytes;
  for (let at = 0; at < bytes.length && onChunk(bytes.subarray(at, at + chunkBytes)); at += chunkBytes)
    await setImmediate();
  return Buffer.alloc(0);
}

async function streamBody(response: IncomingMessage, onChunk: (chunk: Buffer) => boolean): Promise<Buffer> {
  // Leaving the loop destroys the stream and its connection.
  for await (const chunk of readChunks(response)) if (!onChunk(chunk)) return Buffer.alloc(0);
  if (!response.complete) throw new ExternalError('the response was cut off');
  return Buffer.alloc(0);
}

async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readChunks(response)) {
    size += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (size > bytesMax) throw new ExternalError(`the response is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  if (!response.complete) throw new ExternalError('the response was cut off');
  return Buffer.concat(chunks);
}

type Unpacker = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;
const unpackers: Record<string, Unpacker> = {
  gzip: promisify(gunzip) as Unpacker,
  'x-gzip': promisify(gunzip) as Unpacker,
  deflate: promisify(inflate) as Unpacker,
  br: promisify(brotliDecompress) as Unpacker,
};

async function unpack(bytes: Buffer, encoding: string | undefined, maxOutputLength: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined;
  if (!unpacker) throw new ExternalError(`the response has an unknown content encoding (${name.slice(0, 40)})`);
  try {
    return await unpacker(bytes, { maxOutputLength });
  } catch (error) {
    throw new ExternalError('the response cannot be unpacked within its bounds', { cause: error });
  }
}
