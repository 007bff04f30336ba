import { expect, test } from 'vitest';
import { scoreNextBatch } from '../../src/feed/relevance/score-items.ts';
import { startApp } from '../support/harness.ts';

test('an item that becomes relevant is dated then, and a resuming client receives it', async () => {
  const { deps, newOrg } = await startApp();
  const org = await newOrg();
  const post = (title: string, text: string) => org.call('POST', '/api/feed/items', { title, text });
  const score = async (): Promise<void> => {
    for (let step = 0; step < 100 && (await scoreNextBatch(deps)); step += 1);
  };
  const read = async (after = '2000-01-01T00:00:00Z') => {
    const url = `/taxii2/root/collections/relevant/objects/?match[type]=report&added_after=${after}`;
    const { body, headers } = await org.call('GET', url);
    const names: string[] = (body.objects ?? []).map(({ name }: { name: string }) => name);
    return { names, last: headers['x-taxii-date-added-last'] as string };
  };
  await post('Weather', 'The storm closed roads and schools in the north for two days.');
  await org.call('PUT', '/api/feed/profile', { keywords: ['Adyen'] });
  await score();
  expect((await read()).names).toEqual([]);
  await post('Payments', 'A skimmer was found on the payment pages of several Adyen merchants this week.');
  await score();
  const first = await read();
  expect(first.names).toEqual(['Payments']);
  await org.call('PUT', '/api/feed/profile', { keywords: ['Adyen', 'storm'] });
  await score();
  expect((await read(first.last)).names).toEqual(['Weather']);
});
