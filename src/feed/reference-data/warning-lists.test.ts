import { expect, test } from 'vitest';
import { createWarningListLookup } from './warning-lists.ts';

const reason = createWarningListLookup([
  { id: 'alexa', name: 'Top sites', type: 'hostname', list: ['popular.org'] },
  { id: 'google', name: 'Google', type: 'string', list: ['www.search.org'] },
  { id: 'dynamic-dns', name: 'Dynamic DNS', type: 'hostname', list: ['dyn.org'] },
  { id: 'public-dns-v4', name: 'Resolvers', type: 'cidr', list: ['198.51.101.1', '198.51.102.0/24'] },
  {
    id: 'rfc1918',
    name: 'Odd',
    type: 'cidr',
    list: ['10.0.0.0/33', '10.1.0.0/x', '10.2.0.0/', '0.0.0.0/0', 'fe80::1%eth0/64', 'ten/8', '10.3.0.0/16'],
  },
  { id: 'empty-hashes', name: 'Empty', type: 'string', list: ['D41D8CD98F00B204E9800998ECF8427E'] },
]);

test.each([
  ['domain', 'a.popular.org', 'Top sites'],
  ['domain', 'www.search.org', 'Google'],
  ['domain', 'x.www.search.org', undefined],
  ['domain', 'unpopular.org', undefined],
  ['domain', 'x.dyn.org', undefined],
  ['url', 'https://popular.org/x', 'Top sites'],
  ['ipv4', '198.51.101.1', 'Resolvers'],
  ['ipv4', '198.51.102.77', 'Resolvers'],
  ['ipv4', '198.51.103.1', undefined],
  ['ipv4', '10.1.0.1', undefined],
  ['ipv4', '10.3.0.1', 'Odd'],
  ['md5', 'd41d8cd98f00b204e9800998ecf8427e', 'Empty'],
])('%s %s: %s', (type, value, name) => {
  expect(reason(type, value)).toBe(name);
});
