import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../../test/support/harness.ts';
import { acrossOrgs, inOrg } from '../../../platform/db/db.ts';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { readAlongList } from './search-scan.ts';
import { readSearch } from './search-query.ts';
import { readFoundPage } from './search.store.ts';
import { viewOf } from '../snapshot/snapshot.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

test('along the list a search finds what it gathers, then and now', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org)];
  await one.write({ 1: { words: 'storm' }, 2: { words: 'storm' }, 3: {}, 4: { words: 'storm' }, 5: { words: 'calm' } });
  await two.write({ 1: {}, 6: { words: 'storm' } });
  // An indicator that did not fit into the words of its item.
  await acrossOrgs(app.deps.db, (tx) =>
    sql`update item_search set words = 'report' where words @@ websearch_to_tsquery('simple', 'r5.example')`.execute(
      tx,
    ),
  );
  const then = await viewOf(app.deps.db, org.id);
  await one.write({
    2: { words: 'calm' },
    3: { words: 'storm' },
    4: { words: 'storm', revoked: true },
    7: { words: 'storm' },
  });
  const now = await viewOf(app.deps.db, org.id);
  expect(now.tag).not.toBe(then.tag);
  const totals: number[] = [];
  for (const view of [then, now]) {
    for (const q of ['storm', '-storm', 'report', 'storm or calm', 'r5.example']) {
      const search = readSearch({ q });
      const words = search.words!;
      const all = await inOrg(app.deps.db, org.id, (tx) =>
        readFoundPage(tx, view, { filters: {}, search, limit: 100, offset: 0 }),
      );
      totals.push(all.total);
      for (let offset = 0; offset < all.total; offset += 1) {
        const along = await inOrg(app.deps.db, org.id, (tx) =>
          readAlongList(tx, view, { words, limit: 2, offset, foundPerRow: 0 }),
        );
        expect(along, `${q} ${offset}`).toMatchObject({ total: all.total, docs: all.docs.slice(offset, offset + 2) });
      }
    }
  }
  expect(totals).toEqual([4, 3, 7, 4, 1, 5, 3, 8, 6, 1]);
});
