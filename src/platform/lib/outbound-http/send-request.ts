import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { withoutBrackets } from '../url-host.ts';
import { createAllowList, isPublicAddress } from './public-address.ts';

export type OutboundRequest = {
  method: string;
  headers: Record<string, string>;
  body?: Buffer | undefined;
  allow: readonly string[];
  /** A PEM certificate to trust in addition to the public ones. */
  ca?: string | undefined;
};

/** Sends one request to a checked address. The caller handles redirects. Throws an Error whose message is safe to show. */
export async function sendRequest(url: URL, request: OutboundRequest, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`${url.protocol} addresses are not supported`);
  if (url.username || url.password) throw new Error('addresses with a user name or password are not supported');
  const addresses = await resolvePublicHost(url, request.allow, signal);
  const options = {
    method: request.method,
    headers: { 'user-agent': 'tocsin', ...request.headers },
    lookup: pinnedLookup(addresses),
    signal,
    agent: false as const,
    ...tlsOptions(request.ca),
  };
  return new Promise((resolve, reject) => {
    const clientRequest = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve);
    clientRequest.on('error', (error) =>
      reject(new Error(`${url.host} cannot be reached: ${error.message}`, { cause: error })),
    );
    clientRequest.end(request.body);
  });
}

export type ResolvedAddress = { address: string; family: number };

/** Returns a DNS lookup that resolves every name to the addresses that were checked. */
export const pinnedLookup =
  (addresses: ResolvedAddress[]): LookupFunction =>
  (_host, options, done) => {
    if (options.all) done(null, addresses);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };

/** Returns TLS options that trust `ca` in addition to the root certificates. */
export const tlsOptions = (ca: string | undefined): { ca?: string[] } => (ca ? { ca: [...rootCertificates, ca] } : {});

/** Resolves a host to addresses that are all public or allowed. Throws if even one is private: a DNS name must not be able to choose. */
export async function resolvePublicHost(
  url: Pick<URL, 'hostname'>,
  allow: readonly string[],
  signal: AbortSignal,
): Promise<ResolvedAddress[]> {
  const host = withoutBrackets(url.hostname);
  const addresses = isIP(host) ? [{ address: host, family: isIP(host) }] : await resolveName(host, signal);
  const isAllowed = createAllowList(allow);
  const rejected = addresses.find(({ address }) => !isPublicAddress(address) && !isAllowed(host, address));
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  if (rejected) throw new Error(`${host} is not a public address (add the host to TOCSIN_FETCH_ALLOW to permit it)`);
  return addresses;
}

async function resolveName(host: string, signal: AbortSignal): Promise<ResolvedAddress[]> {
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

/** Parses a Retry-After header (RFC 9110, 10.2.3), in seconds or as a date, to milliseconds from now. */
export function parseRetryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
