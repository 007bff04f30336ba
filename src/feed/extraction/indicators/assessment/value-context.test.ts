import { expect, test } from 'vitest';
import { extractIndicators } from '../extract-indicators.ts';

const readActive = (text: string): string[] =>
  extractIndicators(text)
    .indicators.filter(({ status }) => status === 'active')
    .map(({ normalizedValue }) => normalizedValue);

test.each([
  ['numbered', 'It uses tools[1] and pages[2].\n\n1. https://some-lab.org/a\n2. https://other-lab.org/b\n'],
  ['with a title', 'It uses tools.[1]\n\n1. Jane Doe, A paper, https://some-lab.org/a\n'],
  ['raised', 'It uses tools¹ and pages².\n\n¹ https://some-lab.org/a\n² https://other-lab.org/b\n'],
])('takes %s footnotes as links', (_, text) => {
  expect(readActive(text)).toEqual([]);
});

test('keeps the addresses of a numbered list without marks in the text', () => {
  expect(readActive('It loads these files:\n\n1. http://some-zq.top/a\n2. http://other-zq.top/b\n')).toContain(
    'http://some-zq.top/a',
  );
});

test.each([
  ['bars', '| Indicator | Description |\n|---|---|\n| zq-c2[.]top | C2 behind the proxy of zq-cdn.net since May |\n'],
  ['tabs', 'Indicator\tComment\nzq-c2.top\tC2 behind the proxy of zq-cdn.net since May\n'],
  ['another language', '| IoC | 说明 |\n|---|---|\n| zq-c2[.]top | 使用 zq-cdn.net 的服务 |\n'],
])('takes hosts in a column of descriptions as mentioned, with %s', (_, text) => {
  expect(readActive(text)).toEqual(['zq-c2.top']);
});

test('keeps the hosts of all other columns', () => {
  expect(
    readActive('| Stage | Host and port | Comment |\n|---|---|---|\n| 1 | on zq-c2.top now | used in May |\n'),
  ).toEqual(['zq-c2.top']);
});

test('continues a section of indicators below its headings', () => {
  const list = '- https://bitbucket.org/zq-soft/\n';
  expect(readActive(`## Network indicators\n\n### Bitbucket repositories\n\n${list}`)).toEqual([
    'https://bitbucket.org/zq-soft/',
  ]);
  expect(readActive(`## Network indicators\n\n### References\n\n${list}`)).toEqual([]);
  expect(readActive(`## Network indicators\n\n- a-zq[.]top\n\n## Bitbucket repositories\n\n${list}`)).toEqual([
    'a-zq.top',
  ]);
});
