import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { reportSource } from '../../../test/support/feed/report-source.ts';
import { platforms } from '../model/platforms.ts';
import type { FeedItem, FeedStats } from '../model/item.schema.ts';
import { severities } from '../model/vocabulary.ts';

const app = await startApp();

const change = fc.record({
  number: fc.integer({ min: 1, max: 6 }),
  words: fc.constantFrom('a critical vulnerability', 'Windows', 'Linux and Windows', '', 'ransomware on macOS'),
  revoked: fc.boolean(),
  tlp: fc.option(fc.constant('red' as const), { nil: undefined }),
});
const rounds = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });

/** Reads the whole list page by page. */
async function listAll(org: TestOrg, query: string): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await org.call('GET', `/items?perPage=7&page=${page}${query}`);
    items.push(...body.items);
    expect(body.hasNext).toBe(items.length < body.total);
    if (body.hasNext) continue;
    expect(items).toHaveLength(body.total);
    return items;
  }
}

async function checkStats(org: TestOrg): Promise<void> {
  const items = await listAll(org, '');
  const stats = (await org.call('GET', '/stats')).body as FeedStats;
  const count = (matches: (item: FeedItem) => boolean): number => items.filter(matches).length;
  expect(stats.totalItems).toBe(items.length);
  for (const severity of severities) {
    expect(stats.severityBreakdown[severity]).toBe(count(({ event }) => event.severity === severity));
    expect(await listAll(org, `&severity=${severity}`)).toHaveLength(stats.severityBreakdown[severity]);
  }
  for (const platform of platforms) {
    expect(stats.platformBreakdown[platform]).toBe(count((item) => item.classification.platforms.includes(platform)));
    expect(await listAll(org, `&platform=${platform}`)).toHaveLength(stats.platformBreakdown[platform]);
  }
  expect(stats.sourcePublishers).toEqual([...new Set(items.map(({ source }) => source.publisher))].toSorted());
  expect(stats.recentItems.map(({ id }) => id)).toEqual(items.slice(0, 10).map(({ id }) => id));
  for (const status of ['active', 'corrected', 'retracted'])
    expect(await listAll(org, `&status=${status}`)).toHaveLength(count(({ event }) => event.status === status));
  const roots = await listAll(org, '&duplicates=hide');
  expect(roots).toEqual(items.filter(({ duplicateOf }) => duplicateOf === undefined));
}

test('counts in statistics and filters exactly the listed items, after any additions, corrections, retractions and moves', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async (moves) => {
      const [org, reader] = [await app.newOrg(), await app.newOrg()];
      const sources = [
        await reportSource(app, org, { name: 'own' }),
        await reportSource(app, org, { name: 'assigned', visibility: 'shared', assignedTo: [reader.id] }),
      ];
      for (const [index, changes] of moves.entries()) {
        const reports = Object.fromEntries(changes.map(({ number, ...report }) => [number, report]));
        await sources[index % 2]!.write(reports);
        await checkStats(org);
        await checkStats(reader);
      }
    }),
    { numRuns: 4 },
  );
});
