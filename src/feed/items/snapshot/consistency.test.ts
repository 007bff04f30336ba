import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { fileSource, kevCatalogue, kevRow } from '../../../../test/support/feed/kev-source.ts';
import type { FeedItem } from '../../model/item.schema.ts';

test('returns consistent totals, lists and ETags while sources write', async () => {
  const app = await startApp();
  const org = await app.newOrg();
  const sources = await Promise.all([1, 2, 3].map(() => fileSource(app, org, { kind: 'kev' })));
  const state = { writing: true };
  const writers = sources.map(async (source, lane) => {
    for (let day = 1; day <= 4; day += 1) {
      const rows = Array.from({ length: 3 + day }, (_, index) =>
        kevRow(lane * 1_000 + index + 1, { notes: `day ${index < 3 ? day : 0}` }),
      );
      expect((await source.pull(kevCatalogue(day, rows))).error).toBeUndefined();
    }
  });
  const byTag = new Map<string, string>();
  const reader = async (): Promise<void> => {
    const totals: number[] = [];
    while (state.writing) {
      const [{ body, headers }, stats] = await Promise.all([
        org.call('GET', '/items?perPage=100'),
        org.call('GET', '/stats'),
      ]);
      const items = body.items as FeedItem[];
      expect(items).toHaveLength(body.total);
      expect(new Set(items.map(({ id }) => id)).size).toBe(body.total);
      const order = items.map(({ addedToFeedAt, id }) => `${addedToFeedAt} ${id}`);
      expect(order).toEqual(order.toSorted().toReversed());
      const text = JSON.stringify(body);
      const tag = String(headers['etag']);
      expect(byTag.get(tag) ?? text).toBe(text);
      byTag.set(tag, text);
      totals.push(body.total);
      const { totalItems, severityBreakdown, recentItems } = stats.body;
      expect(Object.values<number>(severityBreakdown).reduce((a, b) => a + b)).toBe(totalItems);
      expect(recentItems).toHaveLength(Math.min(10, totalItems));
    }
    expect(totals).toEqual(totals.toSorted((a, b) => a - b));
  };
  const reading = reader();
  await Promise.all(writers);
  state.writing = false;
  await reading;
  expect((await org.call('GET', '/items')).body.total).toBe(21);
  expect(byTag.size).toBeGreaterThan(3);
});
