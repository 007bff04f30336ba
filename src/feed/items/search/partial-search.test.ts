import { expect, test } from 'vitest';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../../test/support/harness.ts';
import type { FeedList } from '../../model/item.schema.ts';

const app = await startApp();

test('lists items that match some of the words behind those that match all', async () => {
  const reader = await app.newOrg();
  const post = (title: string, text: string) =>
    callOk(reader, 'POST', '/api/feed/items', { title, text, publisher: 'Us', publishTime: '2026-01-05' });
  await post('Aurora loader', 'The aurora loader was sold on a forum.');
  await post('Weekly notes', 'Loaders in general. The aurora was visible over the harbor, and someone sold a boat.');
  await post('Forum closed', 'Nothing is sold there.');
  await post('Boats', 'Sold at the harbor.');
  const titles = async (query: string) => {
    const list = await callOk(reader, 'GET', `/items?${query}`);
    const messages = list.validations.warnings.map(({ message }: { message: string }) => message);
    return {
      titles: list.items.map(({ event }: FeedList['items'][number]) => event.title),
      messages,
      total: list.total,
    };
  };
  const q = 'q=aurora+loader+forum';
  const first = await titles(`${q}&perPage=1`);
  expect(first).toEqual({
    titles: ['Aurora loader'],
    messages: ['1 item matches all words of `aurora loader forum`. The others match some of them.'],
    total: 2,
  });
  expect((await titles(`${q}&perPage=1&page=2`)).titles).toEqual(['Weekly notes']);
  expect(await titles(`${q}&searchOrder=newest`)).toEqual({ titles: ['Aurora loader'], messages: [], total: 1 });
  expect(await callOk(reader, 'GET', `/stats?${q}`)).toMatchObject({ totalItems: 2 });
  expect(await callOk(reader, 'GET', `/api/feed/facets?${q}`)).toMatchObject({ total: 2 });
  const elsewhere = await titles('q=aurora+loader+january+2026');
  expect(elsewhere).toMatchObject({ titles: ['Aurora loader', 'Weekly notes'], messages: [] });
  expect(await titles('q=loader+last+week')).toEqual({ titles: [], messages: [], total: 0 });
});

test('finds a name by its aliases behind the items that print it', async () => {
  const reader = await app.newOrg();
  await callOk(reader, 'POST', '/api/feed/items', {
    title: 'Hlux spam returns',
    text: 'The Hlux botnet sends mail again.',
    publisher: 'Us',
  });
  const { items } = await callOk(reader, 'GET', '/items?q=kelihos');
  expect(items.map(({ event }: FeedList['items'][number]) => event.title)).toEqual(['Hlux spam returns']);
});
