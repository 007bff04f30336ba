import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { acrossOrgs, inOrg } from '../../../platform/db/db.ts';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { scanForText } from './search-scan.ts';
import { readSearch } from './search-query.ts';
import { createSearchTotals } from './search-totals.ts';
import { readSearchPage } from './search.store.ts';

const app = await startApp();

test('finds the same items by scan and by collection, for a past and the current snapshot', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org)];
  await one.write({ 1: { words: 'storm' }, 2: { words: 'storm' }, 3: {}, 4: { words: 'storm' }, 5: { words: 'calm' } });
  await two.write({ 1: {}, 6: { words: 'storm' } });
  // Simulates an indicator that did not fit into the search text of its item.
  await acrossOrgs(app.deps.db, (tx) =>
    sql`update item_search set words = 'report' where words @@ tocsin_text_query('r5.example')`.execute(tx),
  );
  const past = await app.deps.snapshots.get(org.id);
  await one.write({
    2: { words: 'calm' },
    3: { words: 'storm' },
    4: { words: 'storm', revoked: true },
    7: { words: 'storm' },
  });
  const current = await app.deps.snapshots.get(org.id);
  expect(current.tag).not.toBe(past.tag);
  const totals = createSearchTotals();
  const counted: number[] = [];
  for (const snapshot of [past, current]) {
    for (const q of ['storm', '-storm', 'report', 'storm or calm', 'r5.example']) {
      const search = readSearch({ q, searchOrder: 'newest' });
      const query = search.fullText!;
      const all = await inOrg(app.deps.db, org.id, (tx) =>
        readSearchPage(tx, { totals, orgKey: org.id }, snapshot, { filters: {}, search, limit: 100, offset: 0 }),
      );
      counted.push(all.total);
      for (let offset = 0; offset < all.total; offset += 1) {
        const scanned = await inOrg(app.deps.db, org.id, (tx) =>
          scanForText(tx, snapshot, { query, total: all.total, limit: 2, offset, matchesPerRow: 0 }),
        );
        expect(scanned, `${q} ${offset}`).toMatchObject({ total: all.total, docs: all.docs.slice(offset, offset + 2) });
      }
    }
  }
  expect(counted).toEqual([4, 3, 7, 4, 1, 5, 3, 8, 6, 1]);
});
