import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddressRange } from './address-ranges.ts';
import { parseNetwork, toInetRange } from './networks.ts';

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
