import { expect, test } from 'vitest';
import { extractIndicators } from './extract-indicators.ts';

const read = (text: string, type: string): string[] =>
  extractIndicators(text)
    .indicators.filter((found) => found.type === type)
    .map(({ normalizedValue }) => normalizedValue);

test.each([
  ['ipv4', 'C2 at 203.0.114[.]7 today', '203.0.114.7'],
  ['ipv4', 'connects to 5.6.7.8:443 then', '5.6.7.8'],
  ['file_path', 'in C:\\Users\\<user>\\AppData\\evil.exe now', 'C:\\Users\\<user>\\AppData\\evil.exe'],
  ['ipv6', 'traffic to 2a01:4f8:0:0::1 seen', '2a01:4f8::1'],
  ['domain', 'beacons to Evil-Host[.]com', 'evil-host.com'],
  ['domain', 'resolves müller-shop[.]de', 'xn--mller-shop-9db.de'],
  ['domain', 'calls app.evil[.]ru and win.evil[.]net', 'app.evil.ru'],
  ['domain', 'hosted at js.some-shop.net now', 'js.some-shop.net'],
  ['domain', 'Indicators:\n-evil-host.top', 'evil-host.top'],
  ['file_name', 'Files:\n  -payload_x64.dll', 'payload_x64.dll'],
  ['url', 'from hxxps://evil[.]com:443/a?b=1#frag.', 'https://evil.com/a?b=1'],
  ['url', '- `soheylist[.]ir:80:/mod/feed.php`', 'http://soheylist.ir/mod/feed.php'],
  ['md5', 'MD5 0123456789abcdef0123456789ABCDEF', '0123456789abcdef0123456789abcdef'],
  ['imphash', 'Imphash: 0123456789abcdef0123456789abcdef', '0123456789abcdef0123456789abcdef'],
  [
    'sha256',
    'a3f1'.repeat(16).replace('a3f1', '9bc2de07').slice(0, 64),
    'a3f1'.repeat(16).replace('a3f1', '9bc2de07').slice(0, 64),
  ],
  ['ssdeep', '768:ABCDEFGHabcd+/12:XYZ123xyz+/ab', '768:ABCDEFGHabcd+/12:XYZ123xyz+/ab'],
  ['file_name', 'drops payload_x64.dll there', 'payload_x64.dll'],
  ['file_name', '| `Firefox Installer.exe` | dropper |', 'Firefox Installer.exe'],
  ['file_path', 'copied to C:\\ProgramData\\Acme Tools\\svc.exe and run', 'C:\\ProgramData\\Acme Tools\\svc.exe'],
  ['file_path', 'writes /etc/cron.d/updater at start', '/etc/cron.d/updater'],
  ['registry_key', 'sets HKCU\\Software\\Acme\\Run to start', 'HKEY_CURRENT_USER\\Software\\Acme\\Run'],
  ['command_line', 'Then it runs:\nschtasks /create /tn upd /tr c:\\a.exe\n', 'schtasks /create /tn upd /tr c:\\a.exe'],
  ['cert_sha1', 'thumbprint 9f0e1d2c3b4a59687766554433221100aabbccdd', '9f0e1d2c3b4a59687766554433221100aabbccdd'],
  ['aws_arn', 'role arn:aws:iam::123456789012:role/evil', 'arn:aws:iam::123456789012:role/evil'],
  ['bucket', 'from s3://stolen-data-1/x', 'stolen-data-1'],
  ['azure_tenant', 'tenant id: 11111111-2222-3333-4444-555555555555', '11111111-2222-3333-4444-555555555555'],
  ['android_package', 'the package com.evil.banker.app', 'com.evil.banker.app'],
  ['imei', 'IMEI 490154203237518', '490154203237518'],
])('extracts the %s of: %s', (type, text, value) => {
  expect(read(text, type)).toContain(value);
});

test.each([
  ['a version', 'Chrome version 96.0.4664.45 was used'],
  ['glued sentences', 'It uses many tools.The group then left.In May it returned.'],
  ['code', 'calls System.Net.WebClient and this.name() and Node.js'],
  ['a detection name', 'detected as Trojan.Win32.Agent.ws and Win32/Exploit.CVE-2017-11882.H'],
  ['a library', 'loads libcurl.so and mod_auth_basic.so'],
  ['a script', 'run install.sh and setup.py, unzip a.zip'],
])('extracts no address from %s', (_, text) => {
  const { indicators } = extractIndicators(text);
  expect(indicators.filter(({ type }) => ['domain', 'url', 'ipv4'].includes(type))).toEqual([]);
});

test.each([
  ['10.0.0.5', 'private address'],
  ['https://www.microsoft.com/en-us/page', 'well-known host'],
  ['https://www.welivesecurity.com/2020/post', 'security publisher'],
  ['d41d8cd98f00b204e9800998ecf8427e', 'empty file'],
  ['8.8.8.8', 'public resolver'],
])('keeps %s as a false positive: %s', (value, reason) => {
  const [found] = extractIndicators(`- ${value}\n`).indicators;
  expect(found).toMatchObject({ status: 'false_positive' });
  expect(found?.reasons[0]).toBe(reason);
});

test('treats a live publisher link as a reference and a defanged address in an indicator list as certain', () => {
  const text = '# Post\nRead more at https://blog.acme-sec.org/post\n\n## Indicators of compromise\n\n- evil[.]top\n';
  const { indicators } = extractIndicators(text, { publisherHosts: ['acme-sec.org'] });
  expect(indicators.find(({ type }) => type === 'url')).toMatchObject({
    status: 'false_positive',
    reasons: expect.arrayContaining(['link to the publisher']),
  });
  expect(indicators.find(({ normalizedValue }) => normalizedValue === 'evil.top')).toMatchObject({
    status: 'active',
    confidence: 0.99,
  });
});

test('omits live addresses in a references section but not defanged ones', () => {
  const text = 'Story.\n\n## References\n\n- https://some-blog.net/a\n- hxxp://bad[.]net/b\n';
  expect(read(text, 'url')).toEqual(['http://bad.net/b']);
});

test('keeps full host names and omits hosts of shared hosting', () => {
  expect(read('hxxp://a.b.evil[.]com/x', 'domain')).toEqual(['a.b.evil.com']);
  expect(read('hxxps://pastebin[.]com/raw/abc', 'domain')).toEqual([]);
});

test('gives a bucket the status of the link that it was read from', () => {
  const read = (text: string) => extractIndicators(text).indicators.find(({ type }) => type === 'bucket')?.status;
  expect(read('See [the paper](https://storage.googleapis.com/bkt-77/a.zip) about evil-quill[.]top.')).toBe(
    'false_positive',
  );
  expect(read('It loads hxxps://storage.googleapis[.]com/bkt-77/a.zip.')).toBe('active');
  expect(read('It copies files to s3://bkt-77/x.')).toBe('active');
});

test('returns values without an indicator bucket', () => {
  const { others } = extractIndicators(
    'mail bad@evil[.]com, CVE-2024-1234, AS64500, wallet 1BoatSLRHtKNngkdXEeobR76b53LETtpyT',
  );
  expect(others.map(({ framework, id }) => `${framework} ${id}`).toSorted()).toEqual([
    'cve CVE-2024-1234',
    'observable:asn AS64500',
    'observable:btc 1BoatSLRHtKNngkdXEeobR76b53LETtpyT',
    'observable:email bad@evil.com',
  ]);
});
