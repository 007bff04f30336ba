import { expect, test } from 'vitest';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { scoreNextBatch } from '../../relevance/score-items.ts';
import { readSearch } from '../search-terms/search-query.ts';
import { readSearchPage } from '../search/search.store.ts';
import { readOrgState } from '../snapshot/org-state.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { relevantItems, readRelevantPage } from './relevant-items.store.ts';

const app = await startApp();

test('reads the same relevant items from the scores alone as by looking up each item, in past and current snapshots', async () => {
  const [org, neighbor] = [await app.newOrg(), await app.newOrg()];
  const score = async (): Promise<void> => {
    while (await scoreNextBatch(app.deps));
  };
  const own = await reportSource(app, org);
  const shared = await reportSource(app, neighbor, { visibility: 'shared', tlp: 'CLEAR' });
  const words = 'Kamstrup';
  await org.call('PUT', '/api/feed/profile', { keywords: [words] });
  await own.write({ 1: { words }, 2: {}, 3: { words }, 4: { words } });
  await shared.write({ 5: { words }, 6: {}, 7: { words } });
  await score();
  const { items } = (await org.call('GET', '/items')).body as { items: { id: string; event: { title: string } }[] };
  const override = (number: number, body: unknown) => {
    const { id } = items.find(({ event }) => event.title.startsWith(`Report ${number}`))!;
    return org.call('PUT', `/api/feed/items/${id}/override`, body);
  };
  const snapshots: Snapshot[] = [await app.deps.snapshots.get(org.id)];
  await override(1, { relevance: { verdict: 'irrelevant' } });
  await override(2, { relevance: { verdict: 'relevant' } });
  await override(3, { relevance: { verdict: 'relevant' } });
  snapshots.push(await app.deps.snapshots.get(org.id));
  await own.write({ 2: { words: 'calm' }, 4: {}, 8: { words } });
  await shared.write({ 6: { words }, 7: { words: `${words} again` } });
  snapshots.push(await app.deps.snapshots.get(org.id));
  await score();
  snapshots.push(await app.deps.snapshots.get(org.id));
  const privatePool = (await app.deps.snapshots.get(neighbor.id)).poolIds;
  const last = snapshots.at(-1)!;
  const visible = last.poolIds.map((id, index) => [id, last.seqs[index]!] as const);
  const withoutShared = visible.filter(([id]) => !privatePool.includes(id));
  snapshots.push({ ...last, poolIds: withoutShared.map(([id]) => id), seqs: withoutShared.map(([, seq]) => seq) });
  const lists = new Set<string>();
  for (const snapshot of snapshots)
    await inOrg(app.deps.db, org.id, async (tx) => {
      const orgState = await readOrgState(tx, snapshot);
      const search = readSearch({});
      const onlyIds = relevantItems(orgState);
      const all = { filters: {}, search, onlyIds, limit: 100, offset: 0, now: new Date() };
      const { docs, total } = await readSearchPage(tx, snapshot, all);
      expect(total).toBeGreaterThan(1);
      for (let offset = 0; offset <= total; offset += 1) {
        const page = await readRelevantPage(tx, snapshot, { orgState, limit: 2, offset });
        expect(page).toMatchObject({ total, docs: docs.slice(offset, offset + 2) });
      }
      // Every item matches the word.
      const searched = { ...all, search: readSearch({ q: 'report', searchOrder: 'newest' }) };
      for (const method of [undefined, 'scan', 'window', 'collect'] as const) {
        const budget = method && { samples: { oneIn: [1], matchesMin: 0 }, method };
        expect(await readSearchPage(tx, snapshot, searched, budget), method).toMatchObject({ total, docs });
      }
      lists.add(JSON.stringify(docs));
    });
  expect(lists.size).toBe(5);
});
