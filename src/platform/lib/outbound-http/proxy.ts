import { globalAgent as directHttp, type Agent as HttpAgent } from 'node:http';
import { globalAgent as directHttps } from 'node:https';
import { isIP } from 'node:net';
import { Agent, type AgentConnectOpts } from 'agent-base';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import type { Dispatcher } from 'undici';
import { withoutBrackets, createAllowList } from './addresses.ts';

type Target = Pick<URL, 'protocol' | 'hostname' | 'port'>;

/**
 * Returns the proxy for requests to an address, or undefined. As in other programs: `HTTPS_PROXY` and `HTTP_PROXY` by the protocol of the
 * address, also in lower case, except for the hosts in `NO_PROXY` and this machine. Threads and the command line read the same variables.
 */
export function findProxy(target: Target): URL | undefined {
  const isHttps = target.protocol === 'https:';
  const proxy = readProxyUrl(isHttps ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === undefined || isExcepted(target, readVariable('NO_PROXY') ?? '')) return undefined;
  return new URL(proxy);
}

/** Returns the URL of a proxy as `HTTPS_PROXY` has it. `http://` may be missing, as for curl. */
export const toProxyUrl = (text: string): string => (/^\w+:\/\//.test(text) ? text : `http://${text}`);

const readProxyUrl = (name: string): string | undefined => {
  const text = readVariable(name);
  return text === undefined ? undefined : toProxyUrl(text);
};

function readVariable(name: string): string | undefined {
  // oxlint-disable-next-line node/no-process-env -- Like the variables of Node.js and OpenTelemetry, they belong to the process.
  const { [name.toLowerCase()]: lower, [name]: upper } = process.env;
  return lower || upper || undefined;
}

/**
 * Returns whether requests to an address use no proxy: loopback addresses, and hosts on a comma-separated list of names (with their
 * subdomains), names that begin with a dot (subdomains only), addresses and CIDRs, each optionally with a port, or `*`.
 */
function isExcepted({ protocol, hostname, port }: Target, noProxy: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
  if (isThisMachine(host, host) || host.endsWith('.localhost')) return true;
  const targetPort = port || (protocol === 'https:' ? '443' : '80');
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => matchesEntry(host, targetPort, entry));
}

const isThisMachine = createAllowList(['localhost', '127.0.0.0/8', '::1']);

function matchesEntry(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true;
  if (isIP(entry.split('/')[0]!) !== 0) return createAllowList([entry])(host, host);
  const [, bracketed, plain, entryPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const name = (bracketed ?? plain ?? '').replace(/^\*\./, '.');
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}

/** Returns an agent whose requests all use a proxy. */
export const createProxyAgent = (proxy: URL, protocol: string): HttpAgent =>
  protocol === 'https:' ? new HttpsProxyAgent(proxy) : new HttpProxyAgent(proxy);

/** Returns an agent for a library that makes its own requests, each through the proxy of its address. Undefined if no proxy is set. */
export const createOutboundAgent = (): HttpAgent | undefined =>
  (readProxyUrl('HTTPS_PROXY') ?? readProxyUrl('HTTP_PROXY')) ? new OutboundAgent() : undefined;

class OutboundAgent extends Agent {
  override connect(_request: unknown, options: AgentConnectOpts): HttpAgent {
    const protocol = options.secureEndpoint ? 'https:' : 'http:';
    const proxy = findProxy({ protocol, hostname: options.host ?? 'localhost', port: String(options.port ?? '') });
    if (proxy) return createProxyAgent(proxy, protocol);
    return options.secureEndpoint ? directHttps : directHttp;
  }
}

/** The connections to each proxy, which are kept open. */
const dispatchers = new Map<string, Dispatcher>();

/** Like `fetch`, but uses the proxy of the address. For addresses in the settings, which may be private. */
export async function outboundFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const proxy = findProxy(url);
  if (!proxy) return globalThis.fetch(input, init);
  const key = `${url.protocol} ${proxy}`;
  const dispatcher = dispatchers.get(key) ?? (await createDispatcher(proxy, url.protocol));
  dispatchers.set(key, dispatcher);
  return globalThis.fetch(input, Object.assign({}, init, { dispatcher }));
}

async function createDispatcher(proxy: URL, protocol: string): Promise<Dispatcher> {
  const { ProxyAgent } = await import('undici');
  return new ProxyAgent({ uri: proxy.href, proxyTunnel: protocol === 'https:' });
}
