import fc from 'fast-check';
import { expect, test } from 'vitest';
import { summarize } from './read-with-lexicon.ts';
import { findSentences } from '../text/sentence-spans.ts';

const text = `A title without a verb
The group attacked a bank with a new loader last week. The loader downloads a backdoor from a remote server of the group.
The backdoor of the group steals passwords from the bank and sends them to a server. Click here.
| table | cell |
The weather was fine and nobody in the small town noticed anything of it.`;

test('selects sentences in text order, without tables and headings', () => {
  const { summary, tldr } = summarize(findSentences(text), []);
  const printed = summary.map(({ start, end }) => text.slice(start, end));
  expect(printed[0]).toBe('The group attacked a bank with a new loader last week.');
  expect(printed.join(' ')).not.toMatch(/table|title|Click/);
  expect(summary.map(({ start }) => start)).toEqual(summary.map(({ start }) => start).toSorted((a, b) => a - b));
  expect(summary).toContainEqual(tldr);
});

test.each([
  ['研究人员发现一个新的勒索软件家族正在攻击日本的医院。', '攻击者利用设备的漏洞进入网络。安全公司建议立即更新。'],
  ['研究者は日本の銀行を標的とする新しいマルウェアを発見した。', 'このマルウェアはブラウザからパスワードを盗む。'],
  ['Специалисты обнаружили новый бэкдор, который атакует учреждения Украины.', 'Злоумышленники рассылают письма.'],
  ['Forscher haben einen neuen Trojaner entdeckt, der Banken in Österreich angreift.', 'Er stiehlt Daten.'],
  ['اكتشف الباحثون برنامجا خبيثا جديدا يستهدف البنوك في المنطقة.', 'ماذا حدث؟'],
])('summarizes without an address: %s', (first, rest) => {
  const report = `https://news.example/a-long-address-of-several-words-in-a-row.\n${first} ${rest}`;
  const { summary, tldr } = summarize(findSentences(report), []);
  expect(report.slice(tldr!.start, tldr!.end)).toBe(first);
  for (const { start, end } of summary) expect(report.slice(start, end)).not.toContain('news.example');
});

test('selects a repeated sentence once', () => {
  const twice = 'The group attacked a bank with a new loader. '.repeat(5);
  expect(summarize(findSentences(twice), []).summary).toHaveLength(1);
});

test('returns at most 1,200 characters for any text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('The group attacked banks with new loaders', '. ', '\n', 'word ', 'A'), {
        maxLength: 60,
      }),
      (parts) => {
        const any = parts.join('');
        const { summary } = summarize(findSentences(any), []);
        expect(summary.reduce((sum, { start, end }) => sum + end - start, 0)).toBeLessThanOrEqual(1_200);
      },
    ),
  );
});
