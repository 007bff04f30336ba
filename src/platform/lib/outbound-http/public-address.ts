import { BlockList, isIP, isIPv4 } from 'node:net';

// IANA special-purpose registries (RFC 6890 and its updates): what is not reachable for everyone.
const closed4 = [
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
// Of IPv6 only 2000::/3 is public; in it these carry other addresses or none.
const closed6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const closed = listOf([...closed4, ...closed6]);
const global6 = listOf(['2000::/3']);

/** Whether an address may be reached by anyone on the internet. IPv4 carried in IPv6 (mapped, NAT64) is judged as IPv4. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  if (version === 4) return !closed.check(address, 'ipv4');
  const carried = carriedIpv4(address);
  if (carried) return isPublicAddress(carried);
  return global6.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}

/** Answers whether `host` or `address` is on a list of host names, addresses and CIDRs. */
export function createAllowance(entries: readonly string[]): (host: string, address: string) => boolean {
  const hosts = new Set(entries.map((entry) => entry.toLowerCase()));
  const networks = listOf(entries.filter((entry) => isIP(entry.split('/')[0]!) !== 0));
  return (host, address) =>
    hosts.has(host.toLowerCase()) ||
    (isIP(address) !== 0 && networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'));
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const family = isIPv4(base) ? 'ipv4' : 'ipv6';
    list.addSubnet(base, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return list;
}

function carriedIpv4(address: string): string | undefined {
  const [plain = ''] = address.split('%');
  const canonical = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
  const match = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (!match) return undefined;
  const [high, low] = [Number.parseInt(match[1]!, 16), Number.parseInt(match[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
