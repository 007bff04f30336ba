import { expect, test } from 'vitest';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { scoreNextBatch } from '../../relevance/score-items.ts';
import type { FeedItem, FeedList } from '../../model/item.schema.ts';

let now = new Date('2026-03-02T10:00:00.000Z');
const app = await startApp({ clock: () => now });

const wait = (): void => {
  now = new Date(now.getTime() + 1_000);
};

test('lists what was updated since a time, with every filter, override and page, in a past and the current snapshot', async () => {
  const org = await app.newOrg();
  const read = async (query: string, perPage = 100): Promise<FeedList> => {
    const { status, body } = await org.call('GET', `/items?perPage=${perPage}&${query}`);
    expect(status).toBe(200);
    return body as FeedList;
  };
  const [one, two] = [await reportSource(app, org), await reportSource(app, org, { publisher: 'Birch' })];
  const write = async (source: typeof one, reports: Parameters<typeof one.write>[0]): Promise<void> => {
    wait();
    await source.write(reports);
  };
  const overriddenAt = new Map<string, string>();
  const override = async (id: string, body: object): Promise<void> => {
    wait();
    expect((await org.call('PUT', `/api/feed/items/${id}/override`, body)).status).toBe(200);
    overriddenAt.set(id, now.toISOString());
  };
  await write(one, { 1: {}, 2: { words: 'storm' }, 3: { words: 'storm' }, 4: {} });
  await write(two, { 2: {}, 5: { words: 'storm' } });
  const [first, second] = (await read('')).items;
  await override(first!.id, { severity: 'critical' });
  await override(second!.id, { status: 'retracted' });
  await write(one, { 1: { words: 'changed' }, 6: {} });
  await org.call('PUT', '/api/feed/profile', { keywords: ['storm'] });
  while (await scoreNextBatch(app.deps));

  const filters = [
    '',
    'severity=critical',
    'severity=none',
    'status=retracted',
    'status=active',
    'source=birch',
    'duplicates=hide',
    'duplicates=hide&status=active',
    'duplicates=hide&source=birch',
    'relevancyMode=relevant',
    'relevancyMode=relevant&source=birch',
  ];
  const keyOf = ({ addedToFeedAt, id }: FeedItem): string => `${addedToFeedAt} ${id}`;
  const checkAll = async (asOf: string, overridden: Map<string, string>): Promise<number> => {
    const { items: all } = await read(`asOf=${asOf}`);
    const times = [...new Set([...all.map(({ lastUpdated }) => lastUpdated), ...overridden.values()])];
    let listed = 0;
    for (const [place, filter] of filters.entries()) {
      const { items: unrestricted } = await read(`${filter}&asOf=${asOf}`);
      // Every second time, and the others with the next filter.
      for (const since of times.filter((_, at) => at % 2 === place % 2)) {
        const isUpdated = ({ id, lastUpdated }: FeedItem): boolean =>
          lastUpdated >= since || (overridden.get(id) ?? '') >= since;
        const expected = unrestricted.filter(isUpdated).map(keyOf);
        const query = `${filter}&updatedSince=${since}&asOf=${asOf}`;
        const { items, total } = await read(query);
        expect([total, items.map(keyOf)], query).toEqual([expected.length, expected]);
        const page = await read(`${query}&page=2`, 2);
        expect([page.total, page.items.map(keyOf)], query).toEqual([expected.length, expected.slice(2, 4)]);
        listed += total;
      }
    }
    return listed;
  };
  const { asOf } = (await read('')).outputs!;
  const overriddenBefore = new Map(overriddenAt);
  const before = await checkAll(asOf!, overriddenBefore);
  await write(one, { 2: { words: 'calm' }, 4: { revoked: true }, 7: { words: 'storm' } });
  await write(two, { 2: { words: 'storm' }, 8: {} });
  await override(second!.id, { status: null });
  while (await scoreNextBatch(app.deps));
  const after = await checkAll((await read('')).outputs!.asOf!, overriddenAt);
  expect(before).toBeGreaterThan(25);
  expect(after).toBeGreaterThan(before);
  expect(await checkAll(asOf!, overriddenBefore)).toBe(before);
});
