import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp, type TestApp, type TestOrg } from '../../../test/support/harness.ts';
import { acrossOrgs, inOrg, queryRow } from '../../platform/db/db.ts';
import { ThreadError } from '../../platform/lib/threads/thread-protocol.ts';
import { kevCatalogue, kevRow } from '../../../test/support/feed/kev-source.ts';
import { pullOnce } from '../../../test/support/feed/grouped-reports.ts';
import { reanalyzeBatch } from './reanalyze-items.ts';

const app: TestApp = await startApp();
const text =
  'Acme Bank was hit by Emotet on Monday. The intruders came from evil-bank[.]top and used PowerShell to stay.';

const all = async (): Promise<void> => {
  while (await reanalyzeBatch(app.deps));
};

/** Changes an item to what an older version of the program could have stored. */
const age = (id: string, change: (doc: { iocs: { domains: unknown[] } }) => void): Promise<void> =>
  acrossOrgs(app.deps.db, async (tx) => {
    const { doc } = (await queryRow<{ doc: string }>(tx)`select doc from items where id = ${id}`)!;
    const old = JSON.parse(doc);
    change(old);
    await sql`update items set doc = ${JSON.stringify(old)}, content_hash = 'old', reading = 0 where id = ${id}`.execute(
      tx,
    );
    await sql`delete from item_terms where item_id = ${id}`.execute(tx);
  });

const termsOf = (org: TestOrg, id: string): Promise<number> =>
  inOrg(
    app.deps.db,
    org.id,
    async (tx) => (await queryRow<{ n: number }>(tx)`select count(*) as n from item_terms where item_id = ${id}`)!.n,
  );

test('writes a reanalysis version, not a correction, when a stored text is extracted differently', async () => {
  const org = await app.newOrg();
  const { body: item } = await org.call('POST', '/api/feed/items', { text });
  const terms = await termsOf(org, item.id);
  await age(item.id, ({ iocs }) => iocs.domains.splice(0));
  await all();
  const { body: after } = await org.call('GET', `/items/${item.id}`);
  expect(after).toMatchObject({ version: 2, event: { status: 'active' }, iocs: item.iocs });
  expect(after.versions[0]).toMatchObject({ version: 2, cause: 'reanalysis', changed: ['indicators'] });
  expect(after.addedToFeedAt).toBe(item.addedToFeedAt);
  expect(await termsOf(org, item.id)).toBe(terms);
  const tag = (await org.call('GET', '/items')).headers['etag'];
  await all();
  expect((await org.call('GET', '/items')).headers['etag']).toBe(tag);
});

test('updates only search and comparison traits when the extraction is the same', async () => {
  const org = await app.newOrg();
  await pullOnce(app, org, { kind: 'kev', content: kevCatalogue(1, [kevRow(1)]) });
  const before = await org.call('GET', '/items');
  const [item] = before.body.items;
  await acrossOrgs(app.deps.db, async (tx) => {
    await sql`update items set reading = 0 where id = ${item.id}`.execute(tx);
    await sql`delete from item_terms where item_id = ${item.id}`.execute(tx);
    await sql`update item_search set words = '' where item_id = ${item.id}`.execute(tx);
  });
  await all();
  expect(await termsOf(org, item.id)).toBeGreaterThan(1);
  const word = new URLSearchParams({ q: item.externalId });
  expect((await org.call('GET', `/items?${word}`)).body.items).toEqual([item]);
  const after = await org.call('GET', '/items');
  expect(after.body).toEqual(before.body);
  expect(after.headers['etag']).toBe(before.headers['etag']);
});

test('extracts only prose again when the reference data is newer', async () => {
  const org = await app.newOrg();
  const { body: item } = await org.call('POST', '/api/feed/items', { text: `${text} Once more.` });
  await pullOnce(app, org, { kind: 'kev', content: kevCatalogue(1, [kevRow(2)]) });
  await all();
  const before = (await org.call('GET', '/items')).body;
  const read: string[] = [];
  const { extractor } = app.deps;
  const newer: typeof extractor = {
    ...extractor,
    referenceDataVersion: extractor.referenceDataVersion + 1,
    read: async (report, signal) => {
      read.push(report.text);
      return { ...(await extractor.read(report, signal)), attackPath: ['Known since'], severity: 'critical' };
    },
  };
  while (await reanalyzeBatch({ ...app.deps, extractor: newer }));
  expect(read.filter((one) => one.includes('Once more.'))).toHaveLength(1);
  const { body: after } = await org.call('GET', `/items/${item.id}`);
  expect(after).toMatchObject({ version: 2, attackPath: ['Known since'], event: { status: 'active' } });
  const others = (items: { id: string }[]) => items.filter(({ id }) => id !== item.id);
  expect(others((await org.call('GET', '/items')).body.items)).toEqual(others(before.items));
  // An extractor with older reference data does not change the item.
  await all();
  expect((await org.call('GET', `/items/${item.id}`)).body.version).toBe(2);
});

test('retries a text later when the thread pool is full', async () => {
  const org = await app.newOrg();
  const { body: item } = await org.call('POST', '/api/feed/items', { text: `${text} No room.` });
  await age(item.id, ({ iocs }) => iocs.domains.splice(0));
  const full = { ...app.deps.extractor, read: () => Promise.reject(new ThreadError('full', 'too much waits already')) };
  await expect(reanalyzeBatch({ ...app.deps, extractor: full })).rejects.toThrow('too much waits');
  await all();
  expect((await org.call('GET', `/items/${item.id}`)).body.version).toBe(2);
});

test('reanalyzes a retracted text once the retraction is taken back', async () => {
  const org = await app.newOrg();
  const { body: item } = await org.call('POST', '/api/feed/items', { text: `${text} Taken back.` });
  await age(item.id, ({ iocs }) => iocs.domains.splice(0));
  await org.call('POST', `/api/feed/items/${item.id}/retract`, { reason: 'not now' });
  await all();
  expect((await org.call('GET', `/items/${item.id}`)).body).toMatchObject({ event: { status: 'retracted' } });
  expect((await org.call('DELETE', `/api/feed/items/${item.id}/retract`)).body.iocs.domains).toEqual([]);
  await all();
  expect((await org.call('GET', `/items/${item.id}`)).body.iocs).toEqual(item.iocs);
});
