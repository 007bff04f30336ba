import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';

let now = new Date('2026-03-04T10:00:00.000Z');
const { newOrg } = await startApp({ clock: () => now });

test('saves, lists, replaces and deletes views of the organization', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  const input = { name: ' Mine ', page: 'hits', query: 'status=open' };
  const view = await callOk(org, 'POST', '/api/views', input);
  expect(view).toMatchObject({ name: 'Mine', page: 'hits', query: 'status=open', createdAt: now.toISOString() });
  now = new Date('2026-03-05T10:00:00.000Z');
  const second = await callOk(org, 'POST', '/api/views', { ...input, page: 'detections' });
  const list = async (query = '') =>
    (await callOk(org, 'GET', `/api/views${query}`)).views.map(({ id }: { id: string }) => id);
  expect([await list(), await list('?page=hits')]).toEqual([[second.id, view.id], [view.id]]);
  const { nextCursor } = await callOk(org, 'GET', '/api/views?limit=1');
  expect(await list(`?cursor=${nextCursor}`)).toEqual([view.id]);
  const changed = await callOk(org, 'PUT', `/api/views/${view.id}`, { ...input, query: '' });
  expect(changed).toMatchObject({ id: view.id, query: '', createdAt: view.createdAt, updatedAt: now.toISOString() });
  const same = await org.call('PUT', `/api/views/${second.id}`, { ...input, name: 'MINE' });
  expect([same.status, same.body.errors[0].pointer]).toEqual([400, '/name']);
  expect((await other.call('DELETE', `/api/views/${view.id}`)).status).toBe(404);
  await callOk(org, 'DELETE', `/api/views/${view.id}`);
  expect(await list()).toEqual([second.id]);
  expect((await callOk(other, 'GET', '/api/views')).views).toEqual([]);
});
