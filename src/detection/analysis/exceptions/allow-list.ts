import { BlockList, isIP } from 'node:net';
import { compilePattern } from './value-pattern.ts';

/**
 * Returns a function that reports whether an entity is in a list. A value of the list is an exact text, a pattern in which `*` stands for any
 * text, or a network such as `10.0.0.0/8`, which contains addresses only. Case and surrounding whitespace do not matter.
 */
export function compileAllowList(values: readonly string[]): (entity: string) => boolean {
  const exact = new Set<string>();
  const patterns: ((text: string) => boolean)[] = [];
  const networks = new BlockList();
  let hasNetworks = false;
  for (const value of values) {
    const network = parseNetwork(value);
    if (network) {
      networks.addSubnet(network.address, network.bits, network.family);
      hasNetworks = true;
    } else if (value.includes('*')) patterns.push(compilePattern(value));
    else exact.add(normalize(value));
  }
  return (entity) => {
    const text = normalize(entity);
    if (exact.has(text) || patterns.some((matches) => matches(text))) return true;
    const version = hasNetworks ? isIP(text) : 0;
    return version !== 0 && networks.check(text, version === 4 ? 'ipv4' : 'ipv6');
  };
}

type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' };

/** Returns undefined for a text that is no network. */
export function parseNetwork(value: string): Network | undefined {
  const [, address, digits] = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(value.trim()) ?? [];
  if (address === undefined) return undefined;
  const version = isIP(address);
  const bits = Number(digits);
  if (version === 0 || bits > (version === 4 ? 32 : 128)) return undefined;
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

const normalize = (text: string): string => text.trim().toLowerCase();
