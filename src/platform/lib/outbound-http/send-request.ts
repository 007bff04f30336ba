import { lookup } from 'node:dns/promises';
import { request as requestHttp, type Agent, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction, connect, type Socket } from 'node:net';
import { getCACertificates, connect as connectTls } from 'node:tls';
import { withoutBrackets, createAllowList, isPublicAddress } from './addresses.ts';
import { createProxyAgent, findProxy } from './proxy.ts';
import { ExternalError } from '../external-error.ts';

export type OutboundRequest = {
  method: string;
  headers: Record<string, string>;
  body?: Buffer | undefined;
  allow: readonly string[];
  /** A PEM certificate to trust in addition to the public ones. */
  ca?: string | undefined;
};

/**
 * Sends one request to a checked address, or through a proxy, which resolves names itself: then only addresses in the URL are checked. The caller
 * handles redirects. Throws an `ExternalError` if there is no response.
 */
export async function sendRequest(url: URL, request: OutboundRequest, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ExternalError(`${url.protocol} addresses are not supported`);
  if (url.username || url.password) throw new ExternalError('addresses with a user name or password are not supported');
  const proxy = findProxy(url);
  const connection = proxy
    ? connectThroughProxy(proxy, url, request.allow)
    : { agent: false as const, lookup: pinnedLookup(await resolvePublicHost(url, request.allow, signal)) };
  const options = {
    method: request.method,
    headers: { 'user-agent': 'tocsin', ...request.headers },
    signal,
    ...connection,
    ...tlsOptions(request.ca),
  };
  return new Promise((resolve, reject) => {
    const clientRequest = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve);
    // Otherwise the response of a proxy that opens no tunnel would pass for the host's.
    clientRequest.on('proxyConnect', ({ statusCode }: { statusCode: number }) => {
      if (url.protocol === 'https:' && statusCode !== 200)
        clientRequest.destroy(new ExternalError(`status ${statusCode}`));
    });
    const through = proxy ? ` through the proxy ${proxy.host}` : '';
    clientRequest.on('error', (error) =>
      reject(isOwnShortage(error) ? error : unreachable(`${url.host} cannot be reached${through}`, error)),
    );
    clientRequest.end(request.body);
  });
}

function connectThroughProxy(proxy: URL, url: URL, allow: readonly string[]): { agent: Agent } {
  const host = withoutBrackets(url.hostname);
  if (isIP(host)) rejectPrivate(host, [{ address: host, family: isIP(host) }], allow);
  return { agent: createProxyAgent(proxy, url.protocol) };
}

const unreachable = (problem: string, error: Error): ExternalError =>
  new ExternalError(`${problem}: ${error.message}`, { cause: error });

/** Returns whether this machine has no file descriptors or memory left. */
export const isOwnShortage = (error: Error): boolean =>
  'code' in error && ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'].includes(String(error.code));

/** Reads a response in chunks. Throws an `ExternalError` if the connection fails. */
export async function* readChunks(response: IncomingMessage): AsyncGenerator<Buffer, void, void> {
  const chunks = response.iterator() as AsyncIterableIterator<Buffer>;
  try {
    for (;;) {
      const { value, done } = await chunks.next().catch((error: Error) => {
        throw new ExternalError(error.message, { cause: error });
      });
      if (done) return;
      yield value;
    }
  } finally {
    response.destroy();
  }
}

export type ResolvedAddress = { address: string; family: number };

/** Returns a DNS lookup that resolves every name to the addresses that were checked. */
export const pinnedLookup =
  (addresses: ResolvedAddress[]): LookupFunction =>
  (_host, options, done) => {
    if (options.all) done(null, addresses);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };

/** Returns TLS options that trust `ca` in addition to the certificates of Node.js and of `NODE_EXTRA_CA_CERTS`. */
export const tlsOptions = (ca: string | undefined): { ca?: string[] } =>
  ca ? { ca: [...getCACertificates('default'), ca] } : {};

/** Resolves a host to addresses that are all public or allowed. Throws if even one is private: a DNS name must not be able to choose. */
export async function resolvePublicHost(
  url: Pick<URL, 'hostname'>,
  allow: readonly string[],
  signal: AbortSignal,
): Promise<ResolvedAddress[]> {
  const host = withoutBrackets(url.hostname);
  const addresses = isIP(host) ? [{ address: host, family: isIP(host) }] : await resolveName(host, signal);
  if (addresses.length === 0) throw new ExternalError(`${host} has no address`);
  rejectPrivate(host, addresses, allow);
  return addresses;
}

function rejectPrivate(host: string, addresses: ResolvedAddress[], allow: readonly string[]): void {
  const isAllowed = createAllowList(allow);
  if (addresses.some(({ address }) => !isPublicAddress(address) && !isAllowed(host, address)))
    throw new ExternalError(`${host} is not a public address (add the host to TOCSIN_FETCH_ALLOW to permit it)`);
}

async function resolveName(host: string, signal: AbortSignal): Promise<ResolvedAddress[]> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new ExternalError(`${host} was not resolved in time`)), {
      once: true,
    });
  });
  aborted.catch(() => undefined);
  const resolved = lookup(host, { all: true }).catch((error: Error) => {
    throw new ExternalError(`${host} cannot be resolved: ${error.message}`, { cause: error });
  });
  return Promise.race([resolved, aborted]);
}

/** Parses a Retry-After header (RFC 9110, 10.2.3), in seconds or as a date, to milliseconds from now. */
export function parseRetryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

type WriteOptions = {
  /** Private hosts, addresses and CIDRs that may be reached. */
  allow: readonly string[];
  /** A PEM certificate to trust in addition to the public ones. */
  ca?: string | undefined;
  signal: AbortSignal;
};

const closeMs = 5000;

/**
 * Writes bytes to an address such as `tls://host:6514` or `tcp://host:601` and ends the connection. Returns when the other side has ended it as well, or
 * five seconds after everything was sent. The host is resolved and checked first. Throws an `ExternalError` if the connection fails.
 */
export async function writeBytes(address: string, bytes: Buffer, { allow, ca, signal }: WriteOptions): Promise<void> {
  const url = new URL(address);
  const host = withoutBrackets(url.hostname);
  const options = { host, port: Number(url.port), lookup: pinnedLookup(await resolvePublicHost(url, allow, signal)) };
  const unreachable = (error: Error) =>
    new ExternalError(`${url.host} cannot be reached: ${error.message}`, { cause: error });
  await new Promise<void>((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const send = (): void => {
      socket.resume();
      socket.end(bytes, () => socket.setTimeout(closeMs, () => socket.destroy()));
    };
    const socket: Socket =
      url.protocol === 'tls:' ? connectTls({ ...options, ...name, ...tlsOptions(ca) }, send) : connect(options, send);
    const abort = (): void => void socket.destroy(new Error('it did not accept the message in time'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', (error) => reject(unreachable(error)));
    socket.once('close', () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}
