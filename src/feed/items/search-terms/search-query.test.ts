import { expect, test } from 'vitest';
import { addAbbreviations, addNameForms } from './search-query.ts';
import { toQueryText } from './query-text.ts';

test.each([
  ['rce confluence', 'rce confluence or remote code execution confluence'],
  ['Confluence RCE', 'Confluence RCE or Confluence remote code execution'],
  ['remote code execution', 'remote code execution or rce'],
  ['proof-of-concept', 'proof-of-concept or poc'],
  ['distributed denial of service', 'distributed denial service or ddos'],
  ['C2 server', 'C2 server or command control server'],
  ['0-day chrome', '0-day chrome or zero day chrome'],
  ['"rce" confluence', '"rce" confluence'],
  ['confluence -rce', 'confluence -rce'],
  ['rce-tool xrce', 'rce-tool xrce'],
])('searches %s also in its other form', (text, expected) => {
  expect(toQueryText(addAbbreviations(text))).toBe(expected);
});

test.each([
  ['log4shell', '"Log4Shell" or CVE-2021-44228'],
  ['citrix bleed exploited', '"Citrix Bleed" exploited or CitrixBleed exploited or CVE-2023-4966 exploited'],
  ['citrixbleed 2', '"Citrix Bleed 2" or CitrixBleed2 or CVE-2025-5777'],
  ['cve-2021-44228', '"Log4Shell" or CVE-2021-44228'],
  ['"log4shell"', '"log4shell"'],
  ['shell', 'shell'],
  ['cobaltstrike beacon', '"Cobalt Strike" beacon or CobaltStrike beacon'],
  ['cozy bear', '"Cozy Bear" or CozyBear'],
  ['emotet', 'emotet'],
])('searches %s also by the other forms of its name', (text, expected) => {
  expect(toQueryText(addNameForms(text))).toBe(expected);
});

test('adds no more forms than a search may have alternatives', () => {
  expect(toQueryText(addAbbreviations('rce lpe xss ssrf poc')).split(' or ')).toHaveLength(8);
});
