import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import type { ItemHighlight } from '../../model/item.schema.ts';
import { splitRuns } from './characters.ts';

const app = await startApp();

test.each([
  ['Log4j is used.', 'Log4j is used.'],
  ['勒索软件', ' 勒索 索软 软件 件 '],
  ['使用log4j漏洞', ' 使用 用 log4j 漏洞 洞 '],
  ['มัลแวร์', ' มัล ลแ แว วร์ ร์ '],
  ['랜섬웨어가', ' 랜섬 섬웨 웨어 어가 가 '],
])('splits %s', (text, expected) => {
  expect(splitRuns(text)).toBe(expected);
});

const titles: Record<string, string> = {
  chinese: '新型勒索软件攻击使用log4j漏洞',
  other: '银行木马利用软件供应链',
  japanese: 'ランサムウェアによる攻撃について',
  korean: '랜섬웨어가 병원을 공격했다',
  thai: 'พบมัลแวร์เรียกค่าไถ่ในโรงพยาบาล',
  english: 'A calm week with Log4j2',
};

test.each([
  ['勒索', ['chinese']],
  ['勒索软件', ['chinese']],
  ['索软', ['chinese']],
  ['软件', ['other', 'chinese']],
  ['软件勒索', []],
  ['洞', ['chinese']],
  ['攻', ['japanese', 'chinese']],
  ['漏洞 勒索', ['chinese']],
  ['软件 -勒索软件', ['other']],
  ['"攻击使用log4j"', ['chinese']],
  ['"攻击 log4j"', []],
  ['log4', ['english', 'chinese']],
  ['log4j 漏洞', ['english', 'chinese']],
  ['勒索 or 木马', ['other', 'chinese']],
  ['ランサム', ['japanese']],
  ['ランサムウェア 攻撃', ['japanese']],
  ['랜섬웨어', ['korean']],
  ['병원', ['korean']],
  ['มัลแวร์', ['thai']],
  ['เรียกค่าไถ่', ['thai']],
  ['โรงพยาบาล', ['thai']],
])('finds the titles with %s', async (q, expected) => {
  const found = await find(q);
  expect(found.items.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
});

test('shows where parts of words match, and ranks titles first', async () => {
  const org = await app.newOrg();
  const post = (title: string, text: string) => org.call('POST', '/api/feed/items', { title, text, publisher: 'Us' });
  const filler = '本周没有其他重要的消息。'.repeat(30);
  await post('本周安全摘要', `${filler}研究人员发现新的勒索软件样本。${filler}`);
  await post('新型勒索软件攻击银行', `${filler}详情尚未公布。`);
  const { body } = await org.call(
    'GET',
    '/items?q=勒索软件&highlight=true'.replace('勒索软件', encodeURIComponent('勒索软件')),
  );
  const shown = body.items.map(({ id }: { id: string }) =>
    body.outputs.highlights[id].map(
      ({ field, segments }: ItemHighlight) =>
        `${field}: ${segments.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('')}`,
    ),
  );
  expect(shown[0][0]).toBe('title: 新型[勒索软件]攻击银行');
  expect(shown[1][0]).toMatch(/^text: .{5,40}研究人员发现新的\[勒索软件\]样本。/);
});

let org: Awaited<ReturnType<typeof app.newOrg>> | undefined;

async function find(q: string): Promise<{ items: { name: string }[] }> {
  if (!org) {
    org = await app.newOrg();
    for (const [name, title] of Object.entries(titles))
      await org.call('POST', '/api/feed/items', { title, text: `${title}. ${name}.`, publisher: name });
  }
  const { status, body } = await org.call('GET', `/items?${new URLSearchParams({ q })}`);
  expect(status).toBe(200);
  return { items: body.items.map(({ source }: { source: { publisher: string } }) => ({ name: source.publisher })) };
}
