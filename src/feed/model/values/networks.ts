import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { refang } from './normalize.ts';
import { normalizeValue } from '../values/indicator-types.ts';

/** A network in CIDR notation. `address` is its first address in canonical form. */
export type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' };

const bitsMax = { ipv4: 32, ipv6: 128 } as const;
const byteBits = 8;

/** Shorter prefixes cover a large part of the internet and are no indicator. */
const bitsMin = { ipv4: 8, ipv6: 24 } as const;

/** Parses a network in CIDR notation, which may be defanged. Bits beyond the prefix are cleared. Returns undefined for any other text. */
export function parseNetwork(text: string): Network | undefined {
  const [, host = '', length = ''] = /^\[?([\da-f.:]+)\]?\/(\d{1,3})$/i.exec(refang(text)) ?? [];
  const family = familyOf(host);
  const bits = Number(length);
  if (!family || bits > bitsMax[family]) return undefined;
  return toNetwork(toBytes(host, family), bits, family);
}

/** Creates a network from the bytes of one of its addresses. */
const toNetwork = (bytes: number[], bits: number, family: Network['family']): Network => ({
  address: toAddress(clearBeyond(bytes, bits), family),
  bits,
  family,
});

/** Returns the canonical form of a network, such as `192.0.2.0/24` for `192.0.2.7/24`, or undefined for any other text. */
export function normalizeNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return network && formatNetwork(network);
}

/** Returns whether a network is narrow enough to be an indicator: at least /8 (IPv6: /24). */
export const isNarrowNetwork = ({ bits, family }: Network): boolean => bits >= bitsMin[family];

/** Returns the canonical forms of the networks that contain an address or a network, narrowest first, from /31 (IPv6: /127) to /8 (IPv6: /24). */
export function listEnclosingNetworks(text: string): string[] {
  const ownFamily = familyOf(text);
  const inner = ownFamily ? { address: text, bits: bitsMax[ownFamily], family: ownFamily } : parseNetwork(text);
  if (!inner) return [];
  const { address, bits, family } = inner;
  const lengths = Array.from({ length: Math.max(0, bits - bitsMin[family]) }, (_, index) => bits - 1 - index);
  const bytes = toBytes(address, family);
  return lengths.map((length) => `${toAddress(clearBeyond(bytes, length), family)}/${length}`);
}

/** Returns the first and the last value inside a network in the order of PostgreSQL's type `inet`: the network itself, and its last address. */
export function toInetRange(network: Network): { first: string; last: string } {
  const { address, bits, family } = network;
  const bytes = toBytes(address, family).map((byte, index) => byte | (255 & ~maskOfByte(bits - index * byteBits)));
  return { first: formatNetwork(network), last: toAddress(bytes, family) };
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
    const family = lists.length === 0 ? undefined : familyOf(address);
    if (!family) return [];
    return lists.flatMap((one) => (one.family === family && one.list.check(address, family) ? [one.target] : []));
  };
}

/** Returns the numbers of an address: four bytes, or eight groups of 16 bits. */
export function toGroups(address: string, family: Network['family']): number[] {
  if (family === 'ipv4') return address.split('.').map(Number);
  const plain = address.replace(/[\d.]+$/, (tail) => (tail.includes('.') ? toHexGroups(tail) : tail));
  const [head = '', tail] = plain.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [parse(head), parse(tail ?? '')];
  const zeros = tail === undefined ? [] : Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after];
}

/** Returns the four or sixteen bytes of an address. */
const toBytes = (address: string, family: Network['family']): number[] =>
  toGroups(address, family).flatMap((group) => (family === 'ipv4' ? [group] : [group >> byteBits, group & 255]));

/** Returns the last 32 bits of an address in dotted notation as two groups. */
function toHexGroups(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${((a << byteBits) | b).toString(16)}:${((c << byteBits) | d).toString(16)}`;
}

function toAddress(bytes: number[], family: Network['family']): string {
  if (family === 'ipv4') return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bytes[2 * index]! << byteBits) | bytes[2 * index + 1]!).toString(16),
  );
  return normalizeValue('ipv6', groups.join(':'))!;
}

const formatNetwork = ({ address, bits }: Network): string => `${address}/${bits}`;

/** Returns the family of an address, or undefined for any other text. */
function familyOf(text: string): Network['family'] | undefined {
  const version = isIP(text);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}

/** Returns the bytes of an address with the bits beyond a prefix cleared. */
const clearBeyond = (bytes: number[], bits: number): number[] =>
  bytes.map((byte, index) => byte & maskOfByte(bits - index * byteBits));

/** Returns the mask of a byte of which the first `bits` bits belong to the prefix. */
const maskOfByte = (bits: number): number =>
  bits >= byteBits ? 255 : bits <= 0 ? 0 : (255 << (byteBits - bits)) & 255;

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
