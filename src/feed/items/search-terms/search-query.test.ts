import { expect, test } from 'vitest';
import { addAbbreviations } from './search-query.ts';
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

test('adds no more forms than a search may have alternatives', () => {
  expect(toQueryText(addAbbreviations('rce lpe xss ssrf poc')).split(' or ')).toHaveLength(8);
});
