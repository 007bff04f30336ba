import { describe, expect, test } from 'vitest';
import { misp } from '../../formats/misp/misp.ts';
import { stix } from '../../formats/stix/stix.ts';
import { mispEvent } from '../../../../test/support/feed/misp-documents.ts';
import { createAddressObservable, createObservable } from '../../extraction/observable.ts';
import type { SourceRecord } from '../source-record.ts';
import { indicatorForms } from './indicator-forms.ts';
import { toTermValue } from '../terms.ts';
import type { IndicatorType } from '../values/indicator-types.ts';

const sha256 = 'a'.repeat(64);

/** Every value with its stated type, and how it is read. */
const cases: [
  stated: IndicatorType,
  value: string,
  type: IndicatorType,
  normalizedValue: string,
  correction?: string,
][] = [
  ['domain', '203.0.113.7', 'ipv4', '203.0.113.7', 'stated as domain'],
  ['domain', '203[.]0[.]113[.]7', 'ipv4', '203.0.113.7', 'stated as domain'],
  ['domain', '203.0.113.7:8080', 'ipv4', '203.0.113.7', 'stated as domain, port 8080 removed'],
  ['domain', '2001:db8:0::1', 'ipv6', '2001:db8::1', 'stated as domain'],
  ['domain', 'https://bad.example/a', 'url', 'https://bad.example/a', 'stated as domain'],
  ['domain', 'hxxps://bad[.]example/a', 'url', 'https://bad.example/a', 'stated as domain'],
  ['domain', 'bad.example/a', 'url', 'http://bad.example/a', 'stated as domain'],
  ['domain', 'bad.example:8443', 'domain', 'bad.example', 'port 8443 removed'],
  ['domain', 'BAD.example', 'domain', 'bad.example'],
  ['file_name', String.raw`C:\Temp\run.exe`, 'file_path', String.raw`C:\Temp\run.exe`, 'stated as file_name'],
  ['file_name', String.raw`%TEMP%\run.exe`, 'file_path', String.raw`%TEMP%\run.exe`, 'stated as file_name'],
  ['file_name', '/tmp/.x/run', 'file_path', '/tmp/.x/run', 'stated as file_name'],
  ['file_name', 'run.exe', 'file_name', 'run.exe'],
  ['domain', '*.bad.example', 'domain', 'bad.example', 'wildcard removed'],
  ['url', '*.bad.example:8443', 'domain', 'bad.example', 'stated as url, port 8443 removed, wildcard removed'],
  ['ipv4', '203.0.113.7:8080', 'ipv4', '203.0.113.7', 'port 8080 removed'],
  ['ipv4', '203.0.113.7|8080', 'ipv4', '203.0.113.7', 'port 8080 removed'],
  ['ipv4', '203.0.113.7/32', 'ipv4', '203.0.113.7'],
  ['ipv4', 'bad.example', 'domain', 'bad.example', 'stated as ipv4'],
  ['ipv4', '2001:db8::1', 'ipv6', '2001:db8::1', 'stated as ipv4'],
  ['ipv6', '[2001:db8::1]:443', 'ipv6', '2001:db8::1', 'port 443 removed'],
  ['ipv6', '203.0.113.7', 'ipv4', '203.0.113.7', 'stated as ipv6'],
  ['url', 'bad.example', 'domain', 'bad.example', 'stated as url'],
  ['url', '203.0.113.7:8080', 'ipv4', '203.0.113.7', 'stated as url, port 8080 removed'],
  ['url', 'http://203.0.113.7:8080', 'url', 'http://203.0.113.7:8080/'],
  ['url', 'bad.example/a', 'url', 'http://bad.example/a'],
  ['md5', sha256, 'sha256', sha256, 'stated as md5'],
  ['sha256', 'A'.repeat(32), 'md5', 'a'.repeat(32), 'stated as sha256'],
  ['sha1', 'b'.repeat(128), 'sha512', 'b'.repeat(128), 'stated as sha1'],
  ['md5', '24:abc:def', 'ssdeep', '24:abc:def', 'stated as md5'],
  ['imphash', 'c'.repeat(32), 'imphash', 'c'.repeat(32)],
];

test.each(cases)('reads %s %s as %s %s', (stated, value, type, normalizedValue, correction) => {
  expect(createObservable(stated, value)).toEqual({
    kind: 'indicator',
    type,
    value,
    normalizedValue,
    ...(correction ? { correction } : {}),
  });
});

test.each(cases)('a look-up finds %s %s', (_stated, value, _type, normalizedValue) => {
  expect(indicatorForms(value)).toContain(toTermValue('indicator', normalizedValue));
});

test.each([
  ['domain', '192.0.2.0/24', 'observable:cidr'],
  ['ipv4', '192.0.2.0/24', 'observable:cidr'],
  ['domain', 'no host', 'observable:domain'],
  ['domain', '1.2.3', 'observable:domain'],
  ['domain', 'bad.example:99999', 'observable:domain'],
  ['md5', 'xyz', 'observable:md5'],
] as const)('keeps %s %s as %s', (stated, value, framework) => {
  expect(createObservable(stated, value)).toEqual({ kind: 'other', framework, value });
});

test('an address of no stated type has nothing to correct but its port', () => {
  expect(createAddressObservable('203.0.113.7')).not.toHaveProperty('correction');
  expect(createAddressObservable('203.0.113.7:53')).toMatchObject({ type: 'ipv4', correction: 'port 53 removed' });
  expect(createAddressObservable('a@bad.example')).toMatchObject({ framework: 'observable:email' });
});

const document = (content: unknown) => [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(content)) }];
const indicators = ({ iocs }: SourceRecord): string[] =>
  Object.values(iocs)
    .flat()
    .map(({ type, normalizedValue, correction }) =>
      [type, normalizedValue, ...(correction ? [correction] : [])].join(' '),
    );

describe('values of sources', () => {
  test.each([
    ["[domain-name:value = '203.0.113.7']", 'ipv4 203.0.113.7 stated as domain'],
    ["[ipv4-addr:value = '203.0.113.7:8080']", 'ipv4 203.0.113.7 port 8080 removed'],
    ["[domain-name:value = 'http://bad.example/a']", 'url http://bad.example/a stated as domain'],
    [`[file:hashes.MD5 = '${sha256}']`, `sha256 ${sha256} stated as md5`],
  ])('STIX %s', (pattern, expected) => {
    const indicator = { type: 'indicator', id: 'indicator--1', spec_version: '2.1', pattern, pattern_type: 'stix' };
    const { records } = stix.parse(document({ type: 'bundle', objects: [indicator] }), { reliability: 0.6 });
    expect(indicators(records[0]!)).toEqual([expected]);
  });

  test.each([
    ['hostname|port', 'bad.example|8080', 'domain bad.example'],
    ['ip-dst|port', '203.0.113.7|8080', 'ipv4 203.0.113.7'],
    ['ip-src|port', '203.0.113.7:8080', 'ipv4 203.0.113.7 port 8080 removed'],
    ['ip-dst', '203.0.113.7:8080', 'ipv4 203.0.113.7 port 8080 removed'],
    ['domain', '203.0.113.7', 'ipv4 203.0.113.7 stated as domain'],
    ['hostname', 'https://bad.example/a', 'url https://bad.example/a stated as domain'],
    ['md5', sha256, `sha256 ${sha256} stated as md5`],
    ['filename|md5', `run.exe|${sha256}`, 'file_name run.exe', `sha256 ${sha256} stated as md5`],
    ['domain|ip', 'bad.example|203.0.113.7', 'domain bad.example', 'ipv4 203.0.113.7'],
  ])('MISP %s %s', (type, value, ...expected) => {
    const event = mispEvent('a', { Attribute: [{ type, value, to_ids: true }], Object: [] });
    const { records } = misp.parse(document(event), { reliability: 0.6 });
    expect(indicators(records[0]!).toSorted()).toEqual(expected.toSorted());
  });
});

test.each([
  ['http://bad.example', 'bad.example'],
  ['hxxps://BAD[.]example/', 'bad.example'],
  ['https://203.0.113.7:8443/', '203.0.113.7'],
  ['http://[2001:db8::1]/', '2001:db8::1'],
])('a look-up of the URL %s finds its host', (value, host) => {
  expect(indicatorForms(value)).toContain(host);
});

test.each(['http://bad.example/a', 'http://bad.example/?a', 'http://user@bad.example/'])(
  'a look-up of the URL %s does not find its host',
  (value) => {
    expect(indicatorForms(value)).not.toContain('bad.example');
  },
);

test('records how a source describes a value that is not an address', () => {
  expect(createAddressObservable('bad.example', 'ip-dst')).toMatchObject({
    type: 'domain',
    correction: 'stated as ip-dst',
  });
  expect(createAddressObservable('bad.example:443', 'ip-dst')).toMatchObject({
    correction: 'stated as ip-dst, port 443 removed',
  });
  expect(createAddressObservable('203.0.113.7', 'ip-dst')).not.toHaveProperty('correction');
  expect(createAddressObservable('999.1.2.3', 'ip-dst')).toMatchObject({ framework: 'observable:ip-dst' });
});
