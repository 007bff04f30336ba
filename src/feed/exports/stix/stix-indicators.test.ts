import { expect, test } from 'vitest';
import { evil, itemOf, objectsOf, versionOf, type ReadObject } from '../../../../test/support/feed/stix-items.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import { tlps } from '../../model/vocabulary.ts';
import { toBundle } from './stix-item.ts';
import { toObservable } from './stix-indicators.ts';

// The first two are examples of STIX 2.1 (sections 2.9 and 6.4).
test.each([
  ['ipv4', '198.51.100.3', 'ipv4-addr--28bb3599-77cd-5a82-a950-b5bc3caf07c4'],
  ['domain', 'example.com', 'domain-name--bedb4899-d24b-5401-bc86-8f6b4cc18ec7'],
  ['ipv6', '2001:db8::1', 'ipv6-addr--6469e3a9-b053-5e34-a025-9396ae051d26'],
])('derives the standard id of %s %s', (type, normalizedValue, id) => {
  expect(toObservable({ type, normalizedValue })?.id).toBe(id);
});

test('creates no observable for a registry key with two hives', () => {
  const key = (normalizedValue: string) => toObservable({ type: 'registry_key', normalizedValue });
  expect(key('HKEY_USERS\\Run')).toMatchObject({ type: 'windows-registry-key', key: 'HKEY_USERS\\Run' });
  expect(key('(HKLM|HKCU)\\Run')).toBeUndefined();
});

test('exports networks and other observables that STIX has an object for', () => {
  const mappings = [
    ['cidr', '192[.]0[.]2[.]7/24'],
    ['cidr', '2001:DB8::/32'],
    ['cidr', '10.0.0.0/8'],
    ['email', 'Attacker@evil[.]top'],
    ['asn', '64496'],
    ['mutex', String.raw`Global\it's`],
    ['btc', 'a-wallet'],
    ['advisory', 'GHSA-1'],
  ].map(([type, id]) => ({ framework: `observable:${type}`, id: id!, confidence: 0.8 }));
  const item = itemOf([]);
  const withMappings = { ...item, classification: { ...item.classification, mappings } };
  const { bundle, unsupported } = toBundle([versionOf(withMappings)]);
  const { objects } = bundle as { objects: ReadObject[] };
  expect(objects.flatMap(({ type, pattern }) => (type === 'indicator' ? [pattern] : []))).toEqual([
    "[ipv4-addr:value ISSUBSET '192.0.2.0/24']",
    "[ipv6-addr:value ISSUBSET '2001:db8::/32']",
    "[email-addr:value = 'attacker@evil.top']",
    '[autonomous-system:number = 64496]',
    String.raw`[mutex:name = 'Global\\it\'s']`,
  ]);
  expect(objects.flatMap(({ type, value }) => (value ? [`${type} ${String(value)}`] : []))).toEqual([
    'ipv4-addr 192.0.2.0/24',
    'ipv6-addr 2001:db8::/32',
    'email-addr attacker@evil.top',
  ]);
  expect(unsupported).toMatchObject({ 'classification.mappings': 2, 'iocs.status': 1 });
});

test('exports observables of CLEAR items only', () => {
  const one: Indicator = { ...evil, type: 'ipv4', value: '203.0.113.7', normalizedValue: '203.0.113.7' };
  const types = (tlp: FeedItem['source']['tlp']) => objectsOf(versionOf(itemOf([one], tlp))).map(({ type }) => type);
  expect(types('CLEAR')).toContain('ipv4-addr');
  for (const tlp of tlps.slice(1)) expect(types(tlp)).not.toContain('ipv4-addr');
  expect(toBundle([versionOf(itemOf([one], 'AMBER'))]).unsupported).toMatchObject({ observables: 1 });
});
