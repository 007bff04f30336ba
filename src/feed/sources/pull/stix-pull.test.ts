import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { acrossOrgs, queryRows } from '../../../platform/db/db.ts';
import { emptyResult } from '../../ingestion/pull-plan.ts';
import { FeedItem } from '../../model/item.schema.ts';
import { fileSource, kevCatalogue, kevRows, readGzip } from '../../../../test/support/feed/kev-source.ts';
import { stixBundle } from '../../../../test/support/feed/stix-documents.ts';

let now = new Date('2024-01-05T10:20:30.000Z');
const app = await startApp({ clock: () => now });

async function newSource() {
  const org = await app.newOrg();
  return { org, source: await fileSource(app, org, { kind: 'stix' }) };
}

test('corrects, retracts and re-adds a report, and ignores an older bundle', async () => {
  const { org, source } = await newSource();
  expect(await source.pull(stixBundle(['a.example']))).toMatchObject({ added: 1 });
  const newer = stixBundle(['a.example', 'b.example'], { modified: '2024-01-02T00:00:00.000Z' });
  expect(await source.pull(newer)).toMatchObject({ corrected: 1 });
  const older = await source.pull(stixBundle(['a.example']));
  expect(older).toMatchObject({ added: 0, corrected: 0, retracted: 0, unchanged: 1 });
  // An entry that leaves the bundle is not retracted.
  const empty = await source.pull({ type: 'bundle', id: 'bundle--b2', objects: [] });
  expect(empty).toMatchObject({ retracted: 0, unchanged: 0 });
  expect((await org.call('GET', '/items')).body.items[0]).toMatchObject({ version: 2, event: { status: 'corrected' } });
  const revoked = stixBundle(['a.example'], { modified: '2024-01-03T00:00:00.000Z', revoked: true });
  expect(await source.pull(revoked)).toMatchObject({ retracted: 1 });
  expect(await source.pull(revoked)).toMatchObject({ retracted: 0, unchanged: 1 });
  const [item] = (await org.call('GET', '/items')).body.items;
  expect(item).toMatchObject({
    version: 3,
    event: { status: 'retracted', title: 'A made-up report' },
    source: { tlp: 'AMBER' },
  });
  expect(item.iocs.domains).toMatchObject([{ value: 'a.example', status: 'revoked' }]);
  expect(await source.pull(newer)).toMatchObject({ added: 0, corrected: 0 });
  const latest = await source.pull(stixBundle(['c.example'], { modified: '2024-01-04T00:00:00.000Z' }));
  expect(latest).toMatchObject({ added: 1 });
  expect((await org.call('GET', '/items')).body.total).toBe(2);
});

test('adds a report that is already withdrawn as a tombstone', async () => {
  const { org, source } = await newSource();
  expect(await source.pull(stixBundle(['a.example'], { revoked: true }))).toMatchObject({ added: 1 });
  expect((await org.call('GET', '/items')).body.items[0]).toMatchObject({ version: 1, event: { status: 'retracted' } });
});

test('expires an indicator at the next full hour, with a new tag but no new version', async () => {
  const { org, source } = await newSource();
  now = new Date('2024-01-05T10:20:30.000Z');
  await source.pull(stixBundle(['a.example']));
  const look = async () => {
    const { body, headers } = await org.call('GET', '/items');
    return { status: body.items[0].iocs.domains[0].status, version: body.items[0].version, tag: headers['etag'] };
  };
  const first = await look();
  expect(first).toMatchObject({ status: 'active', version: 1 });
  // Published on 2024-01-01. A domain expires after 180 days.
  now = new Date('2024-06-28T23:59:59.000Z');
  expect(await look()).toMatchObject({ status: 'active' });
  now = new Date('2024-06-29T00:00:00.000Z');
  const last = await look();
  expect(last).toMatchObject({ status: 'expired', version: 1 });
  expect(last.tag).not.toBe(first.tag);
  const [item] = (await org.call('GET', '/items')).body.items;
  expect((await org.call('GET', `/items/${item.id}`)).body.iocs.domains[0].status).toBe('expired');
  now = new Date('2024-01-05T10:20:30.000Z');
});

test('writes a version without a correction when a record is read differently', async () => {
  const { org, source } = await newSource();
  await source.pull(stixBundle(['a.example']));
  await org.call('PUT', `/api/feed/sources/${source.source.id}`, { publisher: 'Somebody' });
  expect(await source.pull(stixBundle(['a.example']))).toEqual({ ...emptyResult, unchanged: 1 });
  const [item] = (await org.call('GET', '/items')).body.items;
  expect(item).toMatchObject({ version: 2, event: { status: 'active' }, source: { publisher: 'Somebody' } });
  expect((await org.call('GET', `/items/${item.id}`)).body.versions[0]).toMatchObject({
    cause: 'reanalysis',
    changed: ['publisher'],
  });
});

test('strictly increases added times with the sequence of the pool, even if the clock stands still', async () => {
  const org = await app.newOrg();
  const [one, two] = [await fileSource(app, org, { kind: 'kev' }), await fileSource(app, org, { kind: 'kev' })];
  await Promise.all([one.pull(kevCatalogue(1, kevRows(3))), two.pull(kevCatalogue(1, kevRows(2)))]);
  await one.pull(kevCatalogue(2, kevRows(4)));
  const { body } = await org.call('GET', '/items');
  const times = [...new Set<string>(body.items.map((item: FeedItem) => item.addedToFeedAt))];
  expect(times).toHaveLength(3);
  const query = sql<{ seq: number; at: Date }>`
    select distinct seq, added_to_feed_at as at from items where organization_id = ${org.id} order by seq`;
  const seqs = await acrossOrgs(app.deps.db, (tx) => queryRows(tx, query));
  expect(seqs.map(({ at }) => at.toISOString())).toEqual(times.toSorted());
});

test('reports records skipped by include or exclude, and does not count them as missing', async () => {
  const org = await app.newOrg();
  const words = { include: ['vulnerability 1'], exclude: ['VULNERABILITY 12'] };
  const source = await fileSource(app, org, { kind: 'kev', ...words });
  const result = await source.pull(kevCatalogue(1, kevRows(20)));
  expect(result).toMatchObject({ added: 10, retracted: 0 });
  expect(result.skipped).toHaveLength(10);
});

const data = dataDir();
test.skipIf(!data)(
  'every recorded bundle fills the feed; each span of each item re-checks against the stored text',
  async () => {
    const org = await app.newOrg();
    const folder = resolve(data!, 'feed/stix');
    const files = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
      /(?:unit42|amnesty|misp-stix|visualization).*\.json\.gz$/.test(name),
    );
    expect(files).toHaveLength(30);
    for (const file of files) {
      const source = await fileSource(app, org, { kind: 'stix', name: file });
      const first = await source.pull(readGzip(join(folder, file)));
      expect(first, file).toMatchObject({ corrected: 0, retracted: 0, skipped: [] });
      expect(first.added, file).toBeGreaterThan(0);
      const again = await source.pull(readGzip(join(folder, file)));
      expect(again, file).toMatchObject({ added: 0, corrected: 0, unchanged: first.added });
    }
    const query = sql<{ doc: string; stored_text: string }>`
      select coalesce(v.doc, i.doc) as doc, v.stored_text from item_versions v join items i on i.id = v.item_id where v.organization_id = ${org.id}`;
    const stored = await acrossOrgs(app.deps.db, (tx) => queryRows(tx, query));
    expect(stored.length).toBeGreaterThanOrEqual(30);
    for (const { doc, stored_text } of stored) {
      const item = FeedItem.parse(JSON.parse(doc));
      for (const { text, charSpan } of item.provenance.supportingPassages) {
        expect(text).not.toBe('');
        expect(stored_text.slice(charSpan.start, charSpan.end)).toBe(text);
      }
      for (const { evidenceRef } of item.classification.attack) {
        const index = /^provenance\.supportingPassages\[(\d+)\]$/.exec(evidenceRef)![1];
        expect(item.provenance.supportingPassages[Number(index)]).toBeDefined();
      }
    }
    const stats = (await org.call('GET', '/stats')).body;
    expect(stats.totalItems).toBe(stored.length);
    expect(Object.values<number>(stats.severityBreakdown).reduce((a, b) => a + b)).toBe(stored.length);
  },
);

test('stores a report of more indicators than an item holds as several items, which later versions correct', async () => {
  const { org, source } = await newSource();
  const hosts = Array.from({ length: 1_600 }, (_, n) => `host${n}.evil-host.top`);
  expect(await source.pull(stixBundle(hosts))).toMatchObject({ added: 16, skipped: [] });
  const { items, total } = (await org.call('GET', '/items?perPage=20')).body;
  expect(total).toBe(16);
  const numbers = items.map(({ event }: FeedItem) => /\((\d+) of 16\)$/.exec(event.title)?.[1]);
  expect(new Set(numbers).size).toBe(16);
  const lookup = async (value: string) => (await org.call('GET', `/api/indicators?value=${value}`)).body;
  expect((await lookup(hosts[1_234]!)).items).toHaveLength(1);
  const objects = (await org.call('GET', '/taxii2/root/collections/indicators/objects?limit=1000')).body;
  expect(objects.more).toBe(true);
  expect(await source.pull(stixBundle(hosts))).toMatchObject({ added: 0, corrected: 0, unchanged: 16 });
  const more = stixBundle([...hosts, 'one-more.evil-host.top'], { modified: '2024-01-02T00:00:00.000Z' });
  expect(await source.pull(more)).toMatchObject({ added: 0, corrected: 16, retracted: 0 });
  expect((await lookup('one-more.evil-host.top')).items).toHaveLength(1);
  // An older version changes nothing, and a revocation without the indicators retracts every part.
  expect(await source.pull(stixBundle(['host1.evil-host.top']))).toMatchObject({ corrected: 0, retracted: 0 });
  const revoked = stixBundle([], { modified: '2024-01-03T00:00:00.000Z', revoked: true });
  expect(await source.pull(revoked)).toMatchObject({ retracted: 16 });
});
