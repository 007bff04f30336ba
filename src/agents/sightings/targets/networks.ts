import { parseNetwork, toGroups } from '../../../feed/model/values/networks.ts';

/** More patterns would make a query too long. */
const prefixesMax = 16;

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
  const groups = toGroups(address, family);
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
