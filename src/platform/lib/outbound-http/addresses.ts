import { BlockList, isIP, isIPv4 } from 'node:net';
import { fieldError } from '../errors.ts';

/** Returns an address to which the paths of an API are appended. */
export const withoutTrailingSlashes = (url: string): string => url.replace(/\/+$/, '');

// Addresses that are not globally reachable: the IANA special-purpose registries (RFC 6890 and its updates).
const privateIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
// Public addresses at which cloud platforms serve their own machines: metadata, credentials and internal services.
const platformIpv4 = [
  '168.63.129.16', // Azure, its host agent and DNS
  '161.26.0.0/16', // IBM Cloud, its infrastructure
  '166.8.0.0/14', // IBM Cloud, its services
  '192.80.8.124', // Equinix Metal, its metadata
];
// Only 2000::/3 of IPv6 is public. Within it, these ranges embed other addresses or are reserved.
const privateIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const privateRanges = createBlockList([...privateIpv4, ...platformIpv4, ...privateIpv6]);
const globalIpv6 = createBlockList(['2000::/3']);

/** Returns whether an address is publicly reachable and serves no cloud platform. IPv4 embedded in IPv6 (mapped, NAT64) counts as IPv4. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  if (version === 4) return !privateRanges.check(address, 'ipv4');
  const embedded = embeddedIpv4(address);
  if (embedded) return isPublicAddress(embedded);
  return globalIpv6.check(address, 'ipv6') && !privateRanges.check(address, 'ipv6');
}

/** Returns a function that reports whether `host` or `address` is on a list of host names, addresses and CIDRs. */
export function createAllowList(entries: readonly string[]): (host: string, address: string) => boolean {
  const hosts = new Set(entries.map((entry) => entry.toLowerCase()));
  const networks = createBlockList(entries.filter((entry) => isIP(entry.split('/')[0]!) !== 0));
  return (host, address) =>
    hosts.has(host.toLowerCase()) ||
    (isIP(address) !== 0 && networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'));
}

function createBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const family = isIPv4(base) ? 'ipv4' : 'ipv6';
    list.addSubnet(base, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return list;
}

function embeddedIpv4(address: string): string | undefined {
  const [plain = ''] = address.split('%');
  const canonical = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
  const match = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (!match) return undefined;
  const [high, low] = [Number.parseInt(match[1]!, 16), Number.parseInt(match[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/**
 * Returns the URL in the field `url` of a request, and whether its host is in `allow` (TOCSIN_FETCH_ALLOW). Throws a 400 for credentials in
 * it, and unless it is https, or http to a host in `allow`. `credentialHint` ends the message about credentials.
 */
export function validateOutboundUrl(
  text: string,
  allow: readonly string[],
  credentialHint = '',
): { url: URL; isAllowed: boolean } {
  const url = URL.parse(text);
  if (!url) throw fieldError('/url', 'invalid_url', 'url must be an absolute URL.');
  const host = withoutBrackets(url.hostname);
  const isAllowed = createAllowList(allow)(host, host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isAllowed))
    throw fieldError(
      '/url',
      'https_needed',
      'url must start with https://. http:// requires the host to be listed in TOCSIN_FETCH_ALLOW.',
    );
  if (url.username || url.password)
    throw fieldError('/url', 'invalid_url', `url must not contain a user name or password.${credentialHint}`);
  return { url, isAllowed };
}

/** Returns the host without the brackets that a URL puts around an IPv6 address (RFC 3986, section 3.2.2). */
export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** Returns the host of a URL in lower case, an IPv6 address with its brackets, or '' if the text is not a URL. */
export const extractUrlHost = (url: string): string =>
  /^[a-z0-9+.-]+:\/\/(?:[^/?#@]*@)?(\[[^\]]+\]|[^/:?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';

/** Like `extractUrlHost`, but returns an IPv6 address without brackets. */
export const extractBareHost = (url: string): string => withoutBrackets(extractUrlHost(url));

/** Returns a path of the service as a link at its public address, or null if that is not known. */
export const toPublicLink = (publicUrl: string | null, path: string): string | null =>
  publicUrl === null ? null : `${publicUrl}${path}`;
