import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { acrossOrgs, inOrg } from '../../../platform/db/db.ts';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import type { Sql } from '../snapshot/query.sql.ts';
import { readSearch } from '../search-terms/search-query.ts';
import type { PageMethod } from './search-page.ts';
import { readSearchPage, type SearchBudget } from './search.store.ts';

const app = await startApp();

/** The whole feed is the sample, so an estimate is exact. */
const reads = (method: PageMethod, rankedMax: number): SearchBudget => ({
  rankedMax,
  samples: { oneIn: [1], matchesMin: 0 },
  method,
});
const collects: SearchBudget = { samples: { oneIn: [], matchesMin: 0 } };

test('finds the same items by scan, among the newest and by collection, in a past and the current snapshot', async () => {
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
  // Simulates an indicator that did not fit into the search text of its item.
  await acrossOrgs(app.deps.db, (tx) =>
    sql`update item_search set words = 'report' where words @@ tocsin_text_query('r5.example')`.execute(tx),
  );
  await acrossOrgs(app.deps.db, (tx) =>
    sql`insert into item_terms (organization_id, item_id, pool_id, kind, value)
      select organization_id, id, pool_id, 'technique', 'T1059' from items where record_id ~ '[1246]$'`.execute(tx),
  );
  const past = await app.deps.snapshots.get(org.id);
  const [allTotals, techniqueTotals] = [new Set<number>(), new Set<number>()];
  /** Checks every second combination: the first, third and so on if `parity` is 0. */
  const check = async (snapshot: typeof past, parity: 0 | 1): Promise<void> => {
    let turn: number = parity;
    const overridesSeq = Math.max(...snapshot.seqs);
    const sources = { publishers: ['Birch'], names: [] };
    const onlyIds = sql`select unnest(${items.filter((_, place) => place % 3 !== 0).map(({ id }) => id)}::uuid[])`;
    const among = {
      onlyIds: { ids: onlyIds, contains: (id: Sql) => sql<boolean>`${id} in (${onlyIds})` },
      filters: {},
    };
    const queries = [
      {},
      { duplicates: 'hide' },
      { searchOrder: 'newest', indicator: 'r6.example' },
      { updatedSince },
      { technique: 'T1059' },
    ] as const;
    const filtered = [{}, { overridesSeq, severity: 'critical' }, { overridesSeq, sources }];
    for (const restriction of [...filtered.map((filters) => ({ filters })), among])
      for (const q of ['storm', 'report', 'r5.example', '-storm'])
        for (const query of queries) {
          turn += 1;
          if (turn % 2 === 0) continue;
          const search = readSearch({ q, ...query });
          const read = (budget: SearchBudget, limit: number, offset: number) =>
            inOrg(app.deps.db, org.id, (tx) =>
              readSearchPage(tx, snapshot, { ...restriction, search, limit, offset, now: new Date() }, budget),
            );
          const all = await read(collects, 100, 0);
          const docs = (page: typeof all) => page.docs.map(({ doc }) => doc);
          const methods: PageMethod[] = ['scan'];
          // A window does not find roots by their duplicates.
          if (!search.rootsOnly) methods.push('window');
          if (search.terms.length + search.rootTerms.length > 0 || search.updatedSince) methods.push('compare');
          for (const method of methods) {
            const pages = [await read(reads(method, 1), 2, 0), await read(reads(method, 1), 98, 2)];
            const what = `${q} ${JSON.stringify({ ...restriction.filters, ...query })}`;
            expect(pages.flatMap(docs).toSorted(), what).toEqual(docs(all).toSorted());
            for (const page of pages.filter(({ docs }, index) => index === 0 || docs.length > 0))
              expect(page.total, what).toBe(all.total);
            expect(docs(await read(reads(method, 100), 100, 0)), what).toEqual(docs(all));
          }
          allTotals.add(all.total);
          if (search.rootTerms.length > 0) techniqueTotals.add(all.total);
        }
  };
  const { lastUpdated: updatedSince } = (await org.call('GET', `/items/${items[3]!.id}`)).body;
  await one.write({ 2: { words: 'calm' }, 3: { words }, 4: { words, revoked: true }, 8: { words } });
  await two.write({ 6: { words: 'calm' } });
  await override(2, { status: 'retracted' });
  const current = await app.deps.snapshots.get(org.id);
  expect(current.tag).not.toBe(past.tag);
  await check(current, 0);
  await check(past, 1);
  expect(allTotals.size).toBeGreaterThan(4);
  expect(techniqueTotals.size).toBeGreaterThan(1);
});
