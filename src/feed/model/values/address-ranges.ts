import { isIPv4, isIPv6 } from 'node:net';
import { toBytes, toNetwork, type Network } from './networks.ts';
import { refang } from './refang.ts';

/** A range of IPv4 has at most 62. */
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

/** A block of addresses that a network covers: its first address, and the number of bits beyond the prefix. */
type Block<Address> = { start: Address; free: number };

function coverRange(first: number[], last: number[], family: Network['family']): string[] | undefined {
  const blocks =
    family === 'ipv4' ? listV4Blocks(toNumber(first), toNumber(last)) : listV6Blocks(toBigInt(first), toBigInt(last));
  if (!blocks || blocks.length === 0) return undefined;
  return blocks.map(({ start, free }) => {
    const { address, bits } = toNetwork(toBytesOf(BigInt(start), first.length), first.length * 8 - free, family);
    return free === 0 ? address : `${address}/${bits}`;
  });
}

/** Each block is the largest one that begins at its address and does not exceed the range. */
function listV4Blocks(first: number, last: number): Block<number>[] {
  const blocks: Block<number>[] = [];
  for (let start = first; start <= last;) {
    const alignment = start === 0 ? 32 : Math.log2((start & -start) >>> 0);
    const free = Math.min(alignment, Math.floor(Math.log2(last - start + 1)));
    blocks.push({ start, free });
    start += 2 ** free;
  }
  return blocks;
}

function listV6Blocks(first: bigint, last: bigint): Block<bigint>[] | undefined {
  const blocks: Block<bigint>[] = [];
  for (let start = first; start <= last;) {
    if (blocks.length === networksMax) return undefined;
    const alignment = start === 0n ? 128 : countBits(start & -start) - 1;
    const free = Math.min(alignment, countBits(last - start + 1n) - 1);
    blocks.push({ start, free });
    start += 1n << BigInt(free);
  }
  return blocks;
}

const countBits = (number: bigint): number => number.toString(2).length;
const toNumber = (bytes: number[]): number => bytes.reduce((sum, byte) => sum * 256 + byte, 0);
const toBigInt = (bytes: number[]): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

const toBytesOf = (number: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, index) => Number((number >> BigInt(8 * (count - 1 - index))) & 255n));
