import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isNarrowNetwork,
  listEnclosingNetworks,
  normalizeNetwork,
  parseNetwork,
  toInetRange,
  parseAddressRange,
} from './networks.ts';
import { isIndicatorNetwork } from './observables.ts';

test.each([
  ['192.0.2.0/24', '192.0.2.0/24'],
  ['192.0.2.77/24', '192.0.2.0/24'],
  ['192[.]0[.]2[.]0/24', '192.0.2.0/24'],
  ['10.200.3.4/9', '10.128.0.0/9'],
  ['2001:DB8:0:0::1/32', '2001:db8::/32'],
  ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
  ['::ffff:192.0.2.1/120', '::ffff:192.0.2.0/120'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['192.0.2.0/33', undefined],
  ['192.0.2/24', undefined],
  ['example.com/24', undefined],
  ['192.0.2.0', undefined],
])('%s is the network %s', (text, expected) => {
  expect(normalizeNetwork(text)).toBe(expected);
});

const v4 = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }).map((parts) => parts.join('.'));
const v6 = fc
  .array(fc.nat(65_535), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((group) => group.toString(16)).join(':'));

describe('the networks around an address', () => {
  test.each([
    ['ipv4', v4, 24],
    ['ipv6', v6, 104],
  ] as const)('contain it and are canonical (%s)', (family, addresses, count) => {
    fc.assert(
      fc.property(addresses, (address) => {
        const networks = listEnclosingNetworks(address);
        expect(networks).toHaveLength(count);
        for (const network of networks) {
          const { address: start, bits } = parseNetwork(network)!;
          const list = new BlockList();
          list.addSubnet(start, bits, family);
          expect(list.check(address, family)).toBe(true);
          expect(normalizeNetwork(network)).toBe(network);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('begin above a network', () => {
    expect(listEnclosingNetworks('198.51.100.0/10')).toEqual(['198.0.0.0/9', '198.0.0.0/8']);
    expect(listEnclosingNetworks('no address')).toEqual([]);
  });
});

test.each([
  ['192.0.2.0/24', '192.0.2.0/24', '192.0.2.255'],
  ['198.51.100.128/25', '198.51.100.128/25', '198.51.100.255'],
  ['0.0.0.0/0', '0.0.0.0/0', '255.255.255.255'],
  ['2001:db8::/127', '2001:db8::/127', '2001:db8::1'],
])('%s reaches from %s to %s', (text, first, last) => {
  expect(toInetRange(parseNetwork(text)!)).toEqual({ first, last });
});

test.each([
  ['10.0.0.0/8', true, false],
  ['0.0.0.0/0', false, false],
  ['8.0.0.0/7', false, false],
  ['192.0.2.0/24', true, true],
  ['2001:db8::/32', true, true],
  ['2000::/16', false, false],
  ['fc00::/32', true, false],
])('%s is narrow: %s, an indicator: %s', (text, isNarrow, isIndicator) => {
  expect([isNarrowNetwork(parseNetwork(text)!), isIndicatorNetwork(text)]).toEqual([isNarrow, isIndicator]);
});

test.each([
  ['192.0.2.0-192.0.2.255', ['192.0.2.0/24']],
  ['192[.]0[.]2[.]0 – 192[.]0[.]2[.]255', ['192.0.2.0/24']],
  ['192.0.2.7-9', ['192.0.2.7', '192.0.2.8/31']],
  ['192.0.2.7 - 192.0.2.7', ['192.0.2.7']],
  ['192.0.0.0-192.0.3.127', ['192.0.0.0/23', '192.0.2.0/24', '192.0.3.0/25']],
  ['0.0.0.0-255.255.255.255', ['0.0.0.0/0']],
  ['2001:db8::-2001:DB8:0:0:ffff:ffff:ffff:ffff', ['2001:db8::/64']],
  ['192.0.2.9-192.0.2.7', undefined],
  ['192.0.2.7-300', undefined],
  ['192.0.2.7-2001:db8::', undefined],
  ['::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe', undefined],
  ['192.0.2.7', undefined],
  ['host-1.example', undefined],
])('%s is the networks %j', (text, expected) => {
  expect(parseAddressRange(text)).toEqual(expected);
});

const number = fc.nat(0xff_ff_ff_ff);
const toAddress = (n: number): string => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.');
const toNumber = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

test('covers every range of IPv4 exactly', () => {
  fc.assert(
    fc.property(number, number, (one, other) => {
      const [first, last] = [Math.min(one, other), Math.max(one, other)];
      const networks = parseAddressRange(`${toAddress(first)}-${toAddress(last)}`)!;
      let next = first;
      for (const text of networks) {
        const network = parseNetwork(text.includes('/') ? text : `${text}/32`)!;
        expect(toNumber(network.address)).toBe(next);
        next = toNumber(toInetRange(network).last) + 1;
      }
      expect(next).toBe(last + 1);
      expect(networks.length).toBeLessThanOrEqual(62);
    }),
  );
});
