import { describe, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { kevCatalogue, kevRow } from '../../../test/support/feed/kev-source.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { processArrivals } from './recompute-pools.ts';
import { claimArrivals } from './arrivals.store.ts';
import {
  domains,
  listVisibleItems,
  listGroups,
  pullOnce,
  stixReport,
} from '../../../test/support/feed/grouped-reports.ts';

const app = await startApp();

const settleAll = async (): Promise<void> => {
  while (await processArrivals(app.deps));
};

const pullShared = (org: TestOrg, content: object, kind: 'stix' | 'kev' = 'stix') =>
  pullOnce(app, org, { kind, visibility: 'shared', tlp: 'CLEAR', content });

/** Returns what an organization sees, with the ETags. */
const look = async (org: TestOrg) => {
  const [items, stats] = [await org.call('GET', '/items?perPage=100'), await org.call('GET', '/stats')];
  return { items: items.body, stats: stats.body, tags: [items.headers['etag'], stats.headers['etag']] };
};

describe('a private and a shared item', () => {
  test.each(['private first', 'shared first'])(
    '%s: groups the private item under the shared one, visible only to its organization',
    async (order) => {
      const [owner, mine, other] = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
      const number = order === 'private first' ? 1 : 2;
      const values = domains(number * 100, 6);
      const share = () => pullShared(owner, stixReport(number * 10, values));
      const keep = () =>
        pullOnce(app, mine, { kind: 'stix', content: stixReport(number * 10 + 1, values), reliability: 0.9 });
      if (order === 'shared first') {
        await share();
        const before = await look(other);
        await keep();
        await settleAll();
        expect(await look(other)).toEqual(before);
      } else {
        await keep();
        await share();
        await settleAll();
      }
      const items = await listVisibleItems(app, mine);
      const shared = items.find(({ title }) => title === `Report ${number * 10}`)!;
      const own = items.find(({ title }) => title === `Report ${number * 10 + 1}`)!;
      expect([shared.duplicate_of, own.duplicate_of]).toEqual([null, shared.id]);
      // The private item's confidence does not affect the shared figures.
      expect(JSON.parse(shared.doc).event.confidence).toBe(0.6);
      expect((await listVisibleItems(app, other)).map(({ title }) => title)).not.toContain(own.title);
    },
  );

  test('elects a private root when the shared root is retracted', async () => {
    const [owner, mine] = [await app.newOrg(), await app.newOrg()];
    const values = domains(500, 6);
    const source = await pullShared(owner, stixReport(51, values));
    await pullOnce(app, mine, { kind: 'stix', content: stixReport(52, values) });
    await pullOnce(app, mine, { kind: 'stix', content: stixReport(53, values) });
    const rootsOf = async () =>
      (await listVisibleItems(app, mine))
        .filter(({ title }) => /Report 5[123]/.test(title))
        .map(({ id, duplicate_of }) => ({ id, duplicate_of }));
    const [root, ...own] = await rootsOf();
    expect(own.map(({ duplicate_of }) => duplicate_of)).toEqual([root!.id, root!.id]);
    await source.pull(stixReport(51, values, { revoked: true, modified: '2024-02-01T00:00:00.000Z' }));
    await settleAll();
    expect((await rootsOf()).map(({ duplicate_of }) => duplicate_of)).toEqual([null, null, own[0]!.id]);
  });

  test('joins a private item to only one of two shared groups', async () => {
    const [owner, mine] = [await app.newOrg(), await app.newOrg()];
    await pullShared(owner, stixReport(61, domains(600, 6)));
    await pullShared(owner, stixReport(62, domains(610, 6)));
    await pullOnce(app, mine, { kind: 'stix', content: stixReport(63, [...domains(600, 6), ...domains(610, 6)]) });
    await settleAll();
    const groups = (await listGroups(app, mine)).filter((group) => group.some((title) => /Report 6/.test(title)));
    expect(groups).toEqual([['Report 61', 'Report 63'], ['Report 62']]);
  });
});

test.each(['private first', 'shared first'])(
  '%s: raises a private CVE record to the severity of a shared exploited-vulnerability catalog while it is listed',
  async (order) => {
    const [owner, mine, other] = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
    const first = order === 'private first' ? 200 : 300;
    const rows = Array.from({ length: 25 }, (_, n) => kevRow(first + n));
    const id = `CVE-2024-0${first}`;
    const content = { schema_version: '1.6.0', id, modified: '2024-02-01T00:00:00Z', summary: `Own ${id}`, database_specific: { severity: 'LOW' } }; // prettier-ignore
    const keep = () => pullOnce(app, mine, { kind: 'osv', content });
    const share = () => pullShared(owner, kevCatalogue(1, rows), 'kev');
    const own = async () => (await listVisibleItems(app, mine)).find(({ title }) => title === `Own ${id}`)!;
    if (order === 'private first') await keep();
    const kev = await share();
    if (order === 'shared first') await keep();
    await settleAll();
    expect(await own()).toMatchObject({ severity: 'high' });
    const { items } = (await mine.call('GET', '/items?severity=high&perPage=100')).body;
    expect(items.map((one: { id: string }) => one.id)).toContain((await own()).id);
    const seen = await look(other);
    await kev.pull(kevCatalogue(2, [{ ...rows[0]!, knownRansomwareCampaignUse: 'Known' }, ...rows.slice(1)]));
    await settleAll();
    expect(await own()).toMatchObject({ severity: 'critical' });
    expect(seen.items.total).toBe((await look(other)).items.total);
    for (const version of [3, 4]) await kev.pull(kevCatalogue(version, rows.slice(1)));
    await settleAll();
    expect(await own()).toMatchObject({ severity: 'low', duplicate_of: null });
  },
);

test('never groups items of two private pools', async () => {
  const [one, two] = [await app.newOrg(), await app.newOrg()];
  for (const org of [one, two]) await pullOnce(app, org, { kind: 'kev', content: kevCatalogue(1, [kevRow(77)]) });
  await settleAll();
  for (const org of [one, two]) expect((await listVisibleItems(app, org)).at(-1)!.duplicate_of).toBeNull();
});

test('claims as many items as have documents of the allowed size, but at least one', async () => {
  await settleAll();
  const org = await app.newOrg();
  for (const number of [71, 72, 73])
    await pullOnce(app, org, { kind: 'stix', content: stixReport(number, domains(number * 100, 6)) });
  const claim = (bytesMax: number) =>
    acrossOrgs(app.deps.db, async (tx) => (await claimArrivals(tx, { countMax: 500, bytesMax })).ids.length);
  expect([await claim(1), await claim(1_000_000)]).toEqual([1, 3]);
  await settleAll();
});
