import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ItemFilters } from './filters.sql.ts';
import { createPageStarts, type PageStarts } from './page-starts.ts';
import { readItemsPage } from './page.store.ts';

const app = await startApp();

test('reads the same page from either end of the list, for a past and the current snapshot', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org, { publisher: 'Birch' })];
  await one.write({ 1: {}, 2: { words: 'Windows' }, 3: { revoked: true }, 4: {}, 5: {}, 6: { words: 'critical' } });
  await two.write({ 1: {}, 7: {} });
  const { items } = (await org.call('GET', '/items')).body as { items: { id: string }[] };
  const override = (place: number, body: unknown) =>
    org.call('PUT', `/api/feed/items/${items[place]!.id}/override`, body);
  await override(1, { severity: 'critical', status: 'retracted' });
  const past = await app.deps.snapshots.get(org.id);
  await one.write({ 2: { words: 'Linux' }, 4: { revoked: true }, 8: {} });
  await override(2, { status: 'retracted' });
  const current = await app.deps.snapshots.get(org.id);
  expect(current.tag).not.toBe(past.tag);
  for (const snapshot of [past, current]) {
    const overridesSeq = Math.max(...snapshot.seqs);
    const cases: ItemFilters[] = [
      {},
      { overridesSeq, status: 'active' },
      { overridesSeq, status: 'retracted' },
      { overridesSeq, rootsOnly: true },
      { overridesSeq, rootsOnly: true, sources: { publishers: ['Birch'], names: [] } },
    ];
    for (const filters of cases) {
      const read = (offset: number, limit: number, farOffset: number) =>
        inOrg(app.deps.db, org.id, (tx) => readItemsPage(tx, snapshot, { filters, limit, offset, farOffset }));
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

test('reads the same page from the end of any other page, in that snapshot and after the feed changed', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org, { publisher: 'Birch' })];
  await one.write({ 1: {}, 2: { words: 'critical' }, 3: { revoked: true }, 4: {}, 5: {} });
  await two.write({ 1: {}, 7: {} });
  const { items } = (await org.call('GET', '/items')).body as { items: { id: string }[] };
  const override = (place: number, body: unknown) =>
    org.call('PUT', `/api/feed/items/${items[place]!.id}/override`, body);
  await override(0, { severity: 'critical', status: 'retracted' });
  await override(2, { status: 'retracted' });
  await override(4, { status: 'retracted' });
  const past = await app.deps.snapshots.get(org.id);
  await one.write({ 2: { words: 'calm' }, 4: { revoked: true }, 8: {}, 9: {} });
  await two.write({ 1: { revoked: true } });
  await override(1, { status: 'retracted' });
  await override(2, { status: null });
  const current = await app.deps.snapshots.get(org.id);
  const sources = { publishers: ['Birch'], names: [] };
  const lists: ItemFilters[] = [{}, { status: 'active' }, { status: 'retracted' }, { rootsOnly: true }, { sources }];
  const cases = lists.flatMap((filters) => [false, true].map((hasOverrides) => ({ filters, hasOverrides })));
  for (const { filters: shared, hasOverrides } of cases) {
    const filtersAt = ({ seqs }: Snapshot): ItemFilters =>
      hasOverrides ? { ...shared, overridesSeq: Math.max(...seqs) } : shared;
    const read = (snapshot: Snapshot, offset: number, starts?: PageStarts) =>
      inOrg(app.deps.db, org.id, (tx) =>
        readItemsPage(tx, snapshot, {
          filters: filtersAt(snapshot),
          limit: 2,
          offset,
          farOffset: 0,
          ...(starts ? { starts } : {}),
        }),
      );
    const { total } = await read(current, 1);
    for (const snapshot of [past, current])
      for (const first of [1, 3, 6]) {
        const starts = createPageStarts();
        await read(snapshot, first, starts);
        for (let offset = 1; offset <= total + 1; offset += 1) {
          const { docs, total: n } = await read(current, offset, starts);
          const expected = await read(current, offset);
          expect({ docs, n }, JSON.stringify({ shared, hasOverrides, first, offset })).toEqual({
            docs: expected.docs,
            n: expected.total,
          });
        }
      }
  }
});
