import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { createAllowance, isPublicAddress } from './public-address.ts';

export type FetchRequest = {
  url: string;
  /** Hosts, addresses and CIDRs that may be reached although they are private. */
  allow: readonly string[];
  /** Validators of what is held already: the answer may then be `not-modified`. */
  etag?: string | undefined;
  lastModified?: string | undefined;
  accept?: string | undefined;
  /** More request headers, such as a credential; they go to the origin of `url` alone, not where a redirect leads elsewhere. */
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  bytesMax?: number;
  timeoutMs?: number;
  redirectsMax?: number;
  /** Takes the answer piece by piece instead of its being held, and bounds it: at false the rest is not fetched. `bytes` is then empty. */
  take?: ((piece: Buffer) => boolean) | undefined;
};

export type Fetched =
  | {
      kind: 'fetched';
      bytes: Buffer;
      /** Where the answer came from, after redirects. */
      url: string;
      contentType: string | undefined;
      etag: string | undefined;
      lastModified: string | undefined;
      headers: IncomingHttpHeaders;
    }
  | { kind: 'not-modified' };

/** An answer with another status than 200, or 304 where it was asked for. `retryAfterMs`: what it asks for, in seconds or as a date. */
export class FetchStatusError extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  constructor(host: string, status: number, retryAfterMs: number | undefined) {
    super(`${host} answered with status ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const unpackFactor = 4;
// What came whole is handed on in pieces, too, and others have their turn in between.
const pieceBytes = 256 * 1024;

/**
 * GET of a public address, with bounds on size (packed and unpacked), time and redirects. Every host, that of a redirect too, is resolved
 * first; the connection goes to the address that was checked. Throws an Error with a message that may be shown.
 */
export async function fetchBytes(given: FetchRequest): Promise<Fetched> {
  const timeout = AbortSignal.timeout(given.timeoutMs ?? 60_000);
  const signal = given.signal ? AbortSignal.any([timeout, given.signal]) : timeout;
  try {
    return await follow(given, signal);
  } catch (error) {
    if (timeout.aborted) throw new Error('the source took too long to answer', { cause: error });
    throw error;
  }
}

async function follow(given: FetchRequest, signal: AbortSignal): Promise<Fetched> {
  const bytesMax = given.bytesMax ?? 32 * 1024 * 1024;
  const redirectsMax = given.redirectsMax ?? 5;
  let url = new URL(given.url);
  for (let hop = 0; hop <= redirectsMax; hop += 1) {
    const response = await send(url, given, signal);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (status === 304 && (given.etag ?? given.lastModified)) {
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
      throw new FetchStatusError(url.host, status, retryAfter(response.headers['retry-after']));
    }
    return {
      kind: 'fetched',
      bytes: await receive(response, { bytesMax, take: given.take }),
      url: url.href,
      contentType: response.headers['content-type'],
      etag: response.headers.etag,
      lastModified: response.headers['last-modified'],
      headers: response.headers,
    };
  }
  throw new Error(`more than ${redirectsMax} redirects`);
}

function send(url: URL, given: FetchRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const isOrigin = url.origin === new URL(given.url).origin;
  const headers = {
    accept: given.accept ?? '*/*',
    'accept-encoding': given.take ? 'identity' : 'gzip, br',
    ...(isOrigin ? given.headers : {}),
    ...(given.etag ? { 'if-none-match': given.etag } : {}),
    ...(given.lastModified ? { 'if-modified-since': given.lastModified } : {}),
  };
  return sendTo(url, { method: 'GET', headers, allow: given.allow }, signal);
}

/** What a Retry-After header asks for, in milliseconds from now (RFC 9110, 10.2.3). */
export function retryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

export type Outgoing = {
  method: string;
  headers: Record<string, string>;
  body?: Buffer | undefined;
  allow: readonly string[];
  /** A PEM certificate to trust beside the public ones. */
  ca?: string | undefined;
};

/** One request, to an address that was checked; redirects are the caller's. Throws an Error with a message that may be shown. */
export async function sendTo(url: URL, given: Outgoing, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`${url.protocol} addresses are not fetched`);
  if (url.username || url.password) throw new Error('an address with a user name or password is not fetched');
  const addresses = await resolveHost(url, given.allow, signal);
  const { method, body, ca } = given;
  const headers = { 'user-agent': 'tocsin', ...given.headers };
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing = start(
      url,
      { method, headers, lookup: pinnedTo(addresses), signal, agent: false, ...trusting(ca) },
      resolve,
    );
    outgoing.on('error', (error) =>
      reject(new Error(`${url.host} cannot be reached: ${error.message}`, { cause: error })),
    );
    outgoing.end(body);
  });
}

export type Address = { address: string; family: number };

/** A look-up that knows nothing but the addresses that were checked. */
export const pinnedTo =
  (addresses: Address[]): LookupFunction =>
  (_host, options, done) => {
    if (options.all) done(null, addresses);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };

/** TLS options: the certificates that are trusted anyway, and one more. */
export const trusting = (ca: string | undefined): { ca?: string[] } => (ca ? { ca: [...rootCertificates, ca] } : {});

/** The addresses of a host, each of them public or allowed. One private address among several is enough to refuse: a name must not be able to choose. */
export async function resolveHost(
  url: Pick<URL, 'hostname'>,
  allow: readonly string[],
  signal: AbortSignal,
): Promise<Address[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await resolveName(host, signal);
  const isAllowed = createAllowance(allow);
  const refused = found.find(({ address }) => !isPublicAddress(address) && !isAllowed(host, address));
  if (found.length === 0) throw new Error(`${host} has no address`);
  if (refused) throw new Error(`${host} is not a public address (TOCSIN_FETCH_ALLOW can permit it)`);
  return found;
}

async function resolveName(host: string, signal: AbortSignal): Promise<Address[]> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
  aborted.catch(() => undefined);
  const resolved = lookup(host, { all: true }).catch((error: Error) => {
    throw new Error(`${host} cannot be resolved: ${error.message}`, { cause: error });
  });
  return Promise.race([resolved, aborted]);
}

async function receive(
  response: IncomingMessage,
  { bytesMax, take }: { bytesMax: number; take: FetchRequest['take'] },
): Promise<Buffer> {
  const encoding = response.headers['content-encoding'];
  if (take && !encoding) return passOn(response, take);
  const bytes = await unpack(await readBody(response, bytesMax), encoding, bytesMax * unpackFactor);
  if (!take) return bytes;
  for (let at = 0; at < bytes.length && take(bytes.subarray(at, at + pieceBytes)); at += pieceBytes)
    await setImmediate();
  return Buffer.alloc(0);
}

async function passOn(response: IncomingMessage, take: (piece: Buffer) => boolean): Promise<Buffer> {
  // Leaving the loop destroys the stream and its connection.
  for await (const piece of response) if (!take(piece as Buffer)) return Buffer.alloc(0);
  if (!response.complete) throw new Error('the answer was cut off');
  return Buffer.alloc(0);
}

async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    // Leaving the loop destroys the stream and its connection.
    if (size > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`);
    chunks.push(chunk as Buffer);
  }
  if (!response.complete) throw new Error('the answer was cut off');
  return Buffer.concat(chunks);
}

const unpackers: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>,
  'x-gzip': promisify(gunzip) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>,
  deflate: promisify(inflate) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>,
  br: promisify(brotliDecompress) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>,
};

async function unpack(bytes: Buffer, encoding: string | undefined, maxOutputLength: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined;
  if (!unpacker) throw new Error(`the answer is packed in an unknown way (${name.slice(0, 40)})`);
  try {
    return await unpacker(bytes, { maxOutputLength });
  } catch (error) {
    throw new Error('the answer cannot be unpacked within its bounds', { cause: error });
  }
}
