import { BlockList, isIP, isIPv4 } from 'node:net';

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
