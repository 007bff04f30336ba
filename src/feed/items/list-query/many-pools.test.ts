import { expect, test } from 'vitest';
import { fileSource, kevCatalogue, kevRow } from '../../../../test/support/feed/kev-source.ts';
import { startApp } from '../../../../test/support/harness.ts';
import type { FeedItem, FeedList } from '../../model/item.schema.ts';
import { hasManyPools } from '../snapshot/snapshot-rows.sql.ts';

const app = await startApp();

test('lists the items of a dozen assigned sources in order, by filter and page, now and as of an earlier time', async () => {
  const [owner, reader] = [await app.newOrg(), await app.newOrg()];
  const sources = [];
  for (let index = 0; index < 12; index += 1)
    sources.push(
      await fileSource(app, owner, {
        kind: 'kev',
        name: `Source ${index}`,
        tlp: 'GREEN',
        visibility: 'shared',
        assignedTo: [reader.id],
      }),
    );
  expect(hasManyPools({ tag: '', poolIds: sources.map(({ source }) => source.id), seqs: [] })).toBe(true);
  // Every source has one CVE of its own and one that all sources have.
  const catalogue = (index: number, more = {}) =>
    kevCatalogue(1 + Object.keys(more).length, [kevRow(100 + index, more), kevRow(1)]);
  for (const [index, source] of sources.entries()) expect((await source.pull(catalogue(index))).added).toBe(2);
  const read = async (query: string): Promise<FeedList> => {
    const { status, body } = await reader.call('GET', `/items?${query}`);
    expect(status).toBe(200);
    return body as FeedList;
  };
  const idsOf = ({ items }: FeedList): string[] => items.map(({ id }) => id);

  const all = await read('perPage=100');
  expect(all.items.map(({ source }) => source.name).toSorted()).toEqual(
    sources.flatMap(({ source: { name } }) => [name, name]).toSorted(),
  );
  const keyOf = ({ addedToFeedAt, id }: FeedItem): string => `${addedToFeedAt} ${id}`;
  expect(all.items.map(keyOf)).toEqual(all.items.map(keyOf).toSorted().toReversed());

  const { asOf } = all.outputs!;
  const ransomware = { knownRansomwareCampaignUse: 'Known' };
  for (const index of [3, 7]) expect((await sources[index]!.pull(catalogue(index, ransomware))).corrected).toBe(1);
  const after = await read('perPage=100');
  const isRoot = ({ duplicateOf }: FeedItem): boolean => duplicateOf === undefined || duplicateOf === null;
  const filters: [string, (item: FeedItem) => boolean][] = [
    ['', () => true],
    ['severity=critical', ({ event }) => event.severity === 'critical'],
    ['severity=high', ({ event }) => event.severity === 'high'],
    ['status=corrected', ({ event }) => event.status === 'corrected'],
    ['source=source%205', ({ source }) => source.name === 'Source 5'],
    ['cve=CVE-2024-0001', ({ externalId }) => externalId === 'CVE-2024-0001'],
    ['q=gadget', () => true],
    ['duplicates=hide', isRoot],
    ['updatedSince=2020-01-01T00:00:00Z', () => true],
  ];
  for (const [list, past] of [
    [after, ''],
    [all, `&asOf=${asOf}`],
  ] as const)
    for (const [filter, isWanted] of filters) {
      const wanted = list.items.filter(isWanted).map(({ id }) => id);
      const pages = [];
      for (let page = 1; page <= Math.ceil(wanted.length / 7) + 1; page += 1)
        pages.push(await read(`${filter}${past}&perPage=7&page=${page}`));
      const name = `${filter}${past}`;
      expect([name, pages.map(({ total }) => total)]).toEqual([name, pages.map(() => wanted.length)]);
      const found = pages.flatMap(idsOf);
      // A text search ranks.
      expect([name, filter.startsWith('q=') ? found.toSorted() : found]).toEqual([
        name,
        filter.startsWith('q=') ? wanted.toSorted() : wanted,
      ]);
    }
  expect(after.items.filter(({ event }) => event.severity === 'critical')).toHaveLength(2);
  expect(all.items.filter(({ event }) => event.severity === 'critical')).toHaveLength(0);
});
