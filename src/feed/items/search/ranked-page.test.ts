import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { readSearch } from './search-query.ts';
import { createSearchTotals } from './search-totals.ts';
import { readSearchPage } from './search.store.ts';

const app = await startApp();

test('returns the same matches and exact totals when only the newest are ranked, in a past and the current snapshot', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org, { publisher: 'Birch' })];
  const words = 'storm';
  await one.write({
    1: { words },
    2: { words },
    3: {},
    4: { words },
    5: { words: 'calm' },
    6: { words: 'storm critical' },
  });
  await two.write({ 1: {}, 6: {}, 7: { words } });
  const { items } = (await org.call('GET', '/items')).body as { items: { id: string }[] };
  const override = (place: number, body: unknown) =>
    org.call('PUT', `/api/feed/items/${items[place]!.id}/override`, body);
  await override(1, { severity: 'critical', status: 'retracted' });
  const past = await app.deps.snapshots.get(org.id);
  const frequent = createSearchTotals();
  const allTotals = new Set<number>();
  const check = async (snapshot: typeof past): Promise<void> => {
    const overridesSeq = Math.max(...snapshot.seqs);
    for (const filters of [{}, { overridesSeq, status: 'active' }, { sources: { publishers: ['Birch'], names: [] } }])
      for (const q of ['storm', 'report', 'r6.example', '-storm'])
        for (const duplicates of [undefined, 'hide'] as const) {
          const search = readSearch({ q, duplicates });
          const read = (totals: typeof frequent, rankedMax: number, limit: number, offset: number) =>
            inOrg(app.deps.db, org.id, (tx) =>
              readSearchPage(tx, { totals, orgKey: org.id, rankedMax }, snapshot, { filters, search, limit, offset }),
            );
          const all = await read(createSearchTotals(), 1_000, 100, 0);
          const pages = [await read(frequent, 1, 2, 0), await read(frequent, 1, 2, 2), await read(frequent, 1, 96, 4)];
          const docs = (page: typeof all) => page.docs.map(({ doc }) => doc).toSorted();
          expect(pages.flatMap(docs).toSorted(), `${q} ${JSON.stringify(filters)} ${duplicates}`).toEqual(docs(all));
          expect(pages.map(({ total }) => total)).toEqual(pages.map(() => all.total));
          allTotals.add(all.total);
        }
  };
  await check(past);
  await one.write({ 2: { words: 'calm' }, 3: { words }, 4: { words, revoked: true }, 8: { words } });
  await two.write({ 6: { words: 'calm' } });
  await override(2, { status: 'retracted' });
  const current = await app.deps.snapshots.get(org.id);
  expect(current.tag).not.toBe(past.tag);
  await check(current);
  await check(past);
  expect(allTotals.size).toBeGreaterThan(4);
});
