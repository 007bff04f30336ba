import { isIPv4, isIPv6 } from 'node:net';
import { toBytes, toNetwork, type Network } from './networks.ts';
import { refang } from './refang.ts';

/** Every range of IPv4 has at most 62. */
const networksMax = 64;

/**
 * Returns the networks that cover a range of addresses exactly, in order: of `192.0.2.0-192.0.2.255`, also with blanks around the dash, or of
 * `192.0.2.0-255`. A network of one address is the address. Returns undefined for any other text, and for a range that would be too many networks.
 */
export function parseAddressRange(text: string): string[] | undefined {
  const [, first = '', end = ''] = /^([\da-f.:]+)\s*[-–—]\s*([\da-f.:]+)$/i.exec(refang(text.trim())) ?? [];
  const family = isIPv4(first) ? 'ipv4' : isIPv6(first) ? 'ipv6' : undefined;
  if (!family) return undefined;
  const last = family === 'ipv4' && /^\d{1,3}$/.test(end) ? first.replace(/\d+$/, end) : end;
  if (!(family === 'ipv4' ? isIPv4(last) : isIPv6(last))) return undefined;
  return coverRange(toBytes(first, family), toBytes(last, family), family);
}

function coverRange(firstBytes: number[], lastBytes: number[], family: Network['family']): string[] | undefined {
  const size = firstBytes.length * 8;
  const [first, last] = [toNumber(firstBytes), toNumber(lastBytes)];
  const networks: string[] = [];
  for (let at = first; at <= last;) {
    if (networks.length === networksMax) return undefined;
    // The largest block that begins here and does not exceed the range.
    let free = 0;
    while (free < size && (at & ((2n << BigInt(free)) - 1n)) === 0n && at + (2n << BigInt(free)) - 1n <= last)
      free += 1;
    const network = toNetwork(toBytesOf(at, firstBytes.length), size - free, family);
    networks.push(free === 0 ? network.address : `${network.address}/${network.bits}`);
    at += 1n << BigInt(free);
  }
  return networks.length > 0 ? networks : undefined;
}

const toNumber = (bytes: number[]): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

const toBytesOf = (number: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, index) => Number((number >> BigInt(8 * (count - 1 - index))) & 255n));
