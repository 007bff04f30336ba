import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import type { ItemHighlight } from '../model/item.schema.ts';

const app = await startApp();

test('shows where items match: stems, beginnings, corrections, indicators and markup as text', async () => {
  const org = await app.newOrg();
  const post = async (title: string, text: string): Promise<string> =>
    (await org.call('POST', '/api/feed/items', { title, text, publisher: 'Us' })).body.id;
  const filler = 'Nothing else of note happened at the bank during this long week. '.repeat(20);
  const one = await post(
    '<b>Stealer</b> & "log4j2"',
    `${filler}Two stealers ran <img src=x onerror=alert(1)> on a host. ${filler}`,
  );
  const two = await post('A calm week', `The panel was at hxxps://evil-panel[.]top/gate.php all week. ${filler}`);
  const find = async (q: string, id: string): Promise<string[] | undefined> => {
    const { status, body } = await org.call('GET', `/items?${new URLSearchParams({ q, highlight: 'true' })}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.outputs.highlights[id]?.map(
      ({ field, segments }: ItemHighlight) =>
        `${field}: ${segments.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('')}`,
    );
  };
  const title = 'title: <b>[Stealer]</b> & "log4j2"';
  const excerpt = expect.stringMatching(/^text: .*Two \[stealers\] ran <img src=x onerror=alert\(1\)> on a host\./);
  expect(await find('stealer', one)).toEqual([title, excerpt]);
  expect(await find('stelaers', one)).toEqual([title, excerpt]);
  expect(await find('log4j', one)).toEqual(['title: <b>Stealer</b> & "[log4j2]"']);
  expect(await find('evil-panel[.]top', two)).toEqual([
    'indicator: [evil-panel.top]',
    'indicator: https://[evil-panel.top]/gate.php',
  ]);
  const three = await post('Quiet quarter', `The group APT29 exploited CVE-2021-44228 at a bank. ${filler}`);
  expect((await find('cozy bear', three))?.[0]).toBe('name: [Cozy] [Bear]');
  expect(await find('CVE-2021-44228', three)).toContainEqual(expect.stringContaining('exploited [CVE-2021-44228] at'));
  const four = await post(
    'Victim’s “Meters” were—again—attacked',
    `Zero‑day in “Gatehouse”: see CVE‑2031‑10001. ${filler}`,
  );
  expect(await find('meters attacked', four)).toEqual(['title: Victim’s “[Meters]” were—again—[attacked]']);
  expect(await find('gatehouse zero-day', four)).toContainEqual(
    expect.stringContaining('[Zero]‑[day] in “[Gatehouse]”'),
  );
  expect(await find('cve-2031-10001', four)).toContainEqual(expect.stringContaining('see [CVE‑2031‑10001].'));
  expect(await find('calm -stealer', two)).toEqual(['title: A [calm] week']);
  expect(await find('-stealer', two)).toBeUndefined();
  const plain = await org.call('GET', '/items?q=stealer');
  expect(plain.body.outputs.highlights).toBeUndefined();
  expect((await org.call('GET', '/items?q=stealer&highlight=1')).status).toBe(400);
  expect((await org.call('GET', '/items?highlight=true')).body.outputs.highlights).toBeUndefined();
});
