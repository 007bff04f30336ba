import { beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../../test/support/harness.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import type { ItemFilters } from '../item-filters.ts';
import { readItemsPage } from './page.store.ts';
import { viewOf } from './snapshot.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

test('a page is the same from either end of the list, then and now', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org, { publisher: 'Birch' })];
  await one.write({ 1: {}, 2: { words: 'Windows' }, 3: { revoked: true }, 4: {}, 5: {}, 6: { words: 'critical' } });
  await two.write({ 1: {}, 7: {} });
  const { items } = (await org.call('GET', '/items')).body as { items: { id: string }[] };
  const say = (place: number, body: unknown) => org.call('PUT', `/api/feed/items/${items[place]!.id}/override`, body);
  await say(1, { severity: 'critical', status: 'retracted' });
  const then = await viewOf(app.deps.db, org.id);
  await one.write({ 2: { words: 'Linux' }, 4: { revoked: true }, 8: {} });
  await say(2, { status: 'retracted' });
  const now = await viewOf(app.deps.db, org.id);
  expect(now.tag).not.toBe(then.tag);
  for (const view of [then, now]) {
    const own = Math.max(...view.seqs);
    const cases: ItemFilters[] = [
      {},
      { own, status: 'active' },
      { own, status: 'retracted' },
      { own, rootsOnly: true },
      { own, rootsOnly: true, sources: { publishers: ['Birch'], names: [] } },
    ];
    for (const filters of cases) {
      const read = (offset: number, limit: number, farRows: number) =>
        inOrg(app.deps.db, org.id, (tx) => readItemsPage(tx, view, { filters, limit, offset, farRows }));
      const all = await read(0, 100, Infinity);
      expect(all.docs.length).toBe(all.total);
      expect(all.total).toBeGreaterThan(1);
      for (let offset = 1; offset <= all.total + 1; offset += 1) {
        const { docs, total } = await read(offset, 2, 0);
        expect({ docs, total }).toEqual({ docs: all.docs.slice(offset, offset + 2), total: all.total });
      }
    }
  }
});
