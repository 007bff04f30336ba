import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { webAddresses } from '../../../../test/support/feed/web-addresses.ts';
import { isPlainDomain, refang } from './normalize.ts';
import { normalizeValue } from '../values/indicator-types.ts';

describe('normalizeValue', () => {
  test.each([
    ['ipv4', '1.2.3[.]4', '1.2.3.4'],
    ['ipv4', '1.2.3.4/32', '1.2.3.4'],
    ['ipv4', '01.2.3.4', undefined],
    ['ipv4', '1.2.3', undefined],
    ['ipv6', '2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['ipv6', '2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['ipv6', '::ffff:c000:0201', '::ffff:192.0.2.1'],
    ['ipv6', '[2001:db8::2]', '2001:db8::2'],
    ['ipv6', 'fe80::1%eth0', undefined],
    ['domain', 'EXAMPLE(dot)com.', 'example.com'],
    ['domain', 'bücher.example', 'xn--bcher-kva.example'],
    ['domain', '_dmarc.example.com', '_dmarc.example.com'],
    ['domain', '*.example.com', undefined],
    ['domain', 'localhost', undefined],
    ['domain', '1.2.3.4', undefined],
    ['url', 'hxxps://Ex[.]ample:443/Path?Q=1#frag', 'https://ex.ample/Path?Q=1'],
    ['url', 'http[:]//a[.]example', 'http://a.example/'],
    ['url', 'a.example/x', 'http://a.example/x'],
    ['url', 'http://[2001:DB8::1]:8080/', 'http://[2001:db8::1]:8080/'],
    ['url', 'http://', undefined],
    ['sha1', 'ABCDEF0123456789ABCDEF0123456789ABCDEF01', 'abcdef0123456789abcdef0123456789abcdef01'],
    ['sha1', 'abc', undefined],
    ['registry_key', 'hklm\\Software\\\\Run\\', 'HKEY_LOCAL_MACHINE\\Software\\Run'],
    ['registry_key', 'HKEY_current_user\\A', 'HKEY_CURRENT_USER\\A'],
    ['cert_sha1', 'AB:'.repeat(19) + 'CD', 'ab'.repeat(19) + 'cd'],
    ['android_package', 'com.evil.app', 'com.evil.app'],
    ['file_name', '  ', undefined],
  ] as const)('normalizes %s %j', (type, value, expected) => {
    expect(normalizeValue(type, value)).toBe(expected);
  });

  test('returns a canonical form unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(webAddresses, fc.string()), (value) => {
        const once = normalizeValue('url', value);
        if (once !== undefined) expect(normalizeValue('url', once)).toBe(once);
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), (value) => {
        const once = normalizeValue('ipv6', value)!;
        expect(normalizeValue('ipv6', once)).toBe(once);
      }),
    );
  });
});

test('leaves a plain domain as the URL standard does', () => {
  expect(isPlainDomain('h1.evil-2.example')).toBe(true);
  expect(isPlainDomain(`${'a'.repeat(64)}.example`)).toBe(false);
  expect(isPlainDomain(`${'a.'.repeat(126)}example`)).toBe(false);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'axn01-_.'), maxLength: 30 }), (host) => {
      if (!isPlainDomain(host)) return;
      expect(domainToASCII(host)).toBe(host);
      expect(normalizeValue('domain', host)).toBe(normalizeValue('domain', `${host}.`));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['hxxp://a.example', 'http://a.example'],
  ['H**Ps://a.example', 'https://a.example'],
  ['HTTP://a.example', 'http://a.example'],
  ['FXP://a.example', 'ftp://a.example'],
  ['ftp://a.example', 'ftp://a.example'],
  ['http[://]a.example', 'http://a.example'],
  ['a[.]b', 'a.b'],
  ['a [.] b', 'a.b'],
  ['a[punto]b', 'a.b'],
  ['a<.>b', 'a.b'],
  ['a dot b DOT c', 'a.b.c'],
  ['hxxps://a dot b/c', 'https://a.b/c'],
  ['net user a dot b', 'net user a dot b'],
  ['hxxps&#58;&#47;&#47;a&#46;b', 'https://a.b'],
  ['a\u200B.\u00ADb', 'a.b'],
  ['a\u3002b', 'a.b'],
  ['a[.b', 'a.b'],
  ['a.]b', 'a.b'],
  ['a(dot)b', 'a.b'],
  ['a{.}b', 'a.b'],
  [String.raw`a\.b`, 'a.b'],
  ['a(at)b', 'a@b'],
  [' hxx.example ', 'hxx.example'],
])('refangs %j', (defanged, address) => {
  expect(refang(defanged)).toBe(address);
});

test('refang reverses the defanging of any web address', () => {
  fc.assert(
    fc.property(webAddresses, (url) => {
      const defanged = url.replace(/^http/, 'hxxp').replace('://', '[:]//').replaceAll('.', '[.]');
      expect(refang(defanged)).toBe(url);
    }),
  );
});
