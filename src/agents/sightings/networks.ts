import { BlockList, isIP } from 'node:net';
import { findShippedBenignReason } from '../../feed/extraction/indicators/assessment/benign-values.ts';

// Larger networks contain half the internet, and shorter prefixes would need too many patterns.
const [v4BitsMin, v6BitsMin] = [8, 24];
const prefixesMax = 16;

type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' };

/** Parses a network in CIDR notation. Returns undefined for any other text. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', length = ''] = /^([\da-f.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  const [version, bits] = [isIP(address), Number(length)];
  if (version === 0 || bits > (version === 4 ? 32 : 128)) return undefined;
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Reports whether logs are searched for a network: at least /8 (IPv6: /24), and not reserved or private. */
export function isSearchableNetwork(text: string): boolean {
  const network = parseNetwork(text);
  if (!network || network.bits < (network.family === 'ipv4' ? v4BitsMin : v6BitsMin)) return false;
  return findShippedBenignReason(network.family, network.address) === undefined;
}

/** Returns a function that finds the networks that contain an address. */
export function createNetworkLookup<T>(networks: { value: string; target: T }[]): (address: string) => T[] {
  const lists = networks.flatMap(({ value, target }) => {
    const network = parseNetwork(value);
    if (!network) return [];
    const list = new BlockList();
    list.addSubnet(network.address, network.bits, network.family);
    return [{ list, family: network.family, target }];
  });
  return (address) => {
    const version = lists.length === 0 ? 0 : isIP(address);
    if (version === 0) return [];
    const family = version === 4 ? 'ipv4' : 'ipv6';
    return lists.flatMap((one) => (one.family === family && one.list.check(address, family) ? [one.target] : []));
  };
}

/**
 * Returns beginnings of the addresses in a network, as text up to a separator, at most 16. They may cover more than the network, so matches have
 * to be verified. In IPv6 the beginning ends before the first group of zeros, because that may be abbreviated.
 */
export function listNetworkPrefixes(text: string): string[] {
  const network = parseNetwork(text);
  if (!network) return [];
  const { address, bits, family } = network;
  const isV4 = family === 'ipv4';
  const [separator, groupBits] = isV4 ? (['.', 8] as const) : ([':', 16] as const);
  const groups = isV4 ? address.split('.').map(Number) : expandV6(address);
  const whole = Math.min(Math.floor(bits / groupBits), groups.length - 1);
  const print = (group: number): string => (isV4 ? String(group) : group.toString(16));
  const zeroAt = isV4 ? -1 : groups.slice(0, whole).indexOf(0);
  const fixed = groups.slice(0, zeroAt < 0 ? whole : zeroAt);
  const start = fixed.map((group) => `${print(group)}${separator}`).join('');
  const restBits = bits - whole * groupBits;
  const size = 2 ** (groupBits - restBits);
  if (zeroAt >= 0 || restBits === 0 || size > prefixesMax) return [start];
  const first = groups[whole]! - (groups[whole]! % size);
  const isLast = whole === groups.length - 1;
  return Array.from({ length: size }, (_, index) => `${start}${print(first + index)}${isLast ? '' : separator}`);
}

/** Returns the eight groups of an IPv6 address. */
function expandV6(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [parse(head), parse(tail ?? '')];
  return tail === undefined
    ? before
    : [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
