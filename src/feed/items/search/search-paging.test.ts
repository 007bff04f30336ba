import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import type { FeedList } from '../../model/item.schema.ts';

const app = await startApp();

test('splits the items of a term, and those updated since a time, into pages without gaps, and ends after the last one', async () => {
  const org = await app.newOrg();
  for (const number of [1, 2, 3, 4, 5]) {
    const text = `Report ${number}: APT28 exploits CVE-2023-23397 at the ministry of Ruritania.`;
    const { status } = await org.call('POST', '/api/feed/items', { title: `Report ${number}`, text, publisher: 'Us' });
    expect(status).toBe(200);
  }
  for (const query of ['cve=CVE-2023-23397', 'actor=Fancy+Bear', 'updatedSince=2001-01-01T00:00:00Z']) {
    const read = async (paging: string): Promise<FeedList> => {
      const { status, body } = await org.call('GET', `/items?${query}${paging}`);
      expect([status, body.total], query).toEqual([200, 5]);
      return body as FeedList;
    };
    const listed: string[] = [];
    for (const page of [1, 2, 3]) {
      const { items, hasNext } = await read(`&perPage=2&page=${page}`);
      expect(hasNext).toBe(page < 3);
      listed.push(...items.map(({ id }) => id));
    }
    expect(listed).toEqual((await read('')).items.map(({ id }) => id));
    expect(listed).toEqual([...new Set(listed)].toSorted().toReversed());
    for (const page of ['4', '99999999999', '9'.repeat(400)])
      expect((await read(`&perPage=2&page=${page}`)).items).toEqual([]);
  }
});
