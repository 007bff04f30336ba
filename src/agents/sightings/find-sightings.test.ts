import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FeedItem, Indicator } from '../../feed/model/item.schema.ts';
import { createNetworkLookup } from '../../feed/model/values/networks.ts';
import { isIndicatorNetwork } from '../../feed/model/values/observables.ts';
import { emptyIocs } from '../../feed/model/source-record.ts';
import { findSightings, createTargetMatcher } from './find-sightings.ts';
import { listNetworkPrefixes, listSweepTargets } from './sweep-targets.ts';
import type { LogField } from '../../feed/model/values/indicator-type.ts';

const indicator = (type: string, normalizedValue: string): Indicator =>
  ({ type, value: normalizedValue, normalizedValue, status: 'active', confidence: 0.8, ttlDays: 30 }) as Indicator;

const item = {
  id: '01934c3b-4f7e-7aaa-8bbb-0123456789ab',
  event: { title: '', severity: 'high', confidence: 0.8, status: 'active' },
  classification: {
    mappings: ['91.92.240.0/21', '10.0.0.0/8', '2a06:98c0::/29', '0.0.0.0/0'].map((id) => ({
      framework: 'observable:cidr',
      id,
      confidence: 0.8,
    })),
  },
  iocs: {
    ...emptyIocs(),
    ipv4: [indicator('ipv4', '45.155.205.9')],
    domains: ['evil.top', 'zq7.s3.amazonaws.com', 'co.uk', 'duckdns.org'].map((name) => indicator('domain', name)),
    urls: [
      'http://hacked.org/wp-content/a.exe',
      'http://bare.top/',
      'http://45.9.148.3/a.sh',
      'https://zq8.pages.dev/login',
      'https://www.google.com/url?q=zq7',
      'https://github.com/zq7/a/raw/a.exe',
    ].map((url) => indicator('url', url)),
  },
} as unknown as FeedItem;

const targets = listSweepTargets(item);
const find = createTargetMatcher(targets);

describe('a value of a log', () => {
  test.each<[LogField, string, string[]]>([
    ['domain', 'evil.top', ['evil.top exact']],
    ['domain', 'a.b.evil.top', ['evil.top parent_domain']],
    ['domain', 'notevil.top', []],
    ['domain', 'a.zq7.s3.amazonaws.com', ['zq7.s3.amazonaws.com parent_domain']],
    ['domain', 'other.s3.amazonaws.com', []],
    ['domain', 'shop.co.uk', []],
    ['domain', 'home.duckdns.org', []],
    ['domain', 'bare.top', ['http://bare.top/ url_host']],
    ['domain', 'zq8.pages.dev', ['https://zq8.pages.dev/login url_host']],
    ['domain', 'hacked.org', []],
    ['domain', 'www.google.com', []],
    ['domain', 'github.com', []],
    ['address', '45.155.205.9', ['45.155.205.9 exact']],
    ['address', '45.9.148.3', ['http://45.9.148.3/a.sh url_host']],
    ['address', '91.92.247.255', ['91.92.240.0/21 network']],
    ['address', '91.92.248.0', []],
    ['address', '10.1.2.3', []],
    ['address', '2a06:98c7:ffff::1', ['2a06:98c0::/29 network']],
    ['address', 'undefined', []],
    ['url', 'http://hacked.org/wp-content/a.exe', ['http://hacked.org/wp-content/a.exe exact']],
    ['url', 'http://hacked.org/other', []],
    ['url', 'https://evil.top:8443/gate?x=1', ['evil.top url_host']],
    ['url', 'https://cdn.evil.top/a', ['evil.top parent_domain']],
    ['url', 'https://91.92.240.7/a', ['91.92.240.0/21 network']],
    ['url', 'https://good.org/?next=https://evil.top/', []],
  ])('%s %s', (kind, value, expected) => {
    expect(find(kind, value).map(({ target, match }) => `${target.value} ${match}`)).toEqual(expected);
  });
});

test('reports a row once for an indicator, with the strongest reason and the value that matched', () => {
  const fields = [
    { name: 'domain', kind: 'domain' as const },
    { name: 'url', kind: 'url' as const },
  ];
  const rows = [{ _id: '1', _event: { domain: 'CDN.evil.top', url: 'https://evil.top/a' } }];
  expect(findSightings(rows, { dataset: 'proxy', fields }, targets)).toMatchObject([
    { value: 'evil.top', match: 'url_host', observed: 'https://evil.top/a', observedHost: 'evil.top' },
  ]);
});

describe('networks', () => {
  const address = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => parts.join('.'));

  test('have prefixes that cover every address of the network', () => {
    fc.assert(
      fc.property(address, address, fc.integer({ min: 8, max: 32 }), (network, other, bits) => {
        const value = `${network}/${bits}`;
        const prefixes = listNetworkPrefixes(value);
        const isCovered = prefixes.some(
          (prefix) => other === prefix || (prefix.endsWith('.') && other.startsWith(prefix)),
        );
        expect(prefixes.length).toBeLessThanOrEqual(16);
        if (createNetworkLookup([{ value, target: 0 }])(other).length > 0) expect(isCovered).toBe(true);
        expect(prefixes.some((prefix) => network.startsWith(prefix))).toBe(true);
      }),
    );
  });

  test.each([
    ['203.0.114.0/24', true],
    ['192.168.0.0/16', false],
    ['1.0.0.0/7', false],
    ['2a06:98c0::/29', true],
    ['fe80::/64', false],
    ['1.2.3.4', false],
    ['not/24', false],
  ])('%s is searched for: %s', (value, isSearchable) => expect(isIndicatorNetwork(value)).toBe(isSearchable));
});
