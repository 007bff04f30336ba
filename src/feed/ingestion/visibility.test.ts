import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { inOrg, queryRow, queryRows } from '../../platform/db/db.ts';
import { fileSource, kevCatalogue, kevRow, kevRows } from '../../../test/support/feed/kev-source.ts';
import { stixBundle } from '../../../test/support/feed/stix-documents.ts';

const red = { object_marking_refs: ['marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed'] };

describe('two organizations', async () => {
  const app = await startApp();
  const [alice, bob] = [await app.newOrg(), await app.newOrg()];

  test('hides items, totals, statistics, tags and sources of a private source from another organization', async () => {
    const look = async (org: TestOrg) => {
      const [items, stats] = [await org.call('GET', '/items?perPage=100'), await org.call('GET', '/stats')];
      const { body: sources } = await org.call('GET', '/api/feed/sources');
      const tags = [items.headers['etag'], stats.headers['etag']];
      return { items: items.body, stats: stats.body, sources, tags };
    };
    const before = await look(bob);
    const source = await fileSource(app, alice, { kind: 'kev', tlp: 'CLEAR' });
    await source.pull(kevCatalogue(1, kevRows(5)));
    await source.pull(kevCatalogue(2, kevRows(5).with(0, kevRow(1, { notes: 'new' }))));
    expect(await look(bob)).toEqual(before);
    const own = await look(alice);
    expect(own.items.total).toBe(5);
    const id = own.items.items[0].id;
    expect((await bob.call('GET', `/items/${id}`)).status).toBe(404);
    expect((await alice.call('GET', `/items/${id}`)).status).toBe(200);
    const sourceUrl = `/api/feed/sources/${source.source.id}`;
    for (const [method, url, body] of [
      ['GET', sourceUrl],
      ['PUT', sourceUrl, { name: 'mine now' }],
      ['DELETE', sourceUrl],
      ['POST', `${sourceUrl}/pull`],
    ] as const)
      expect((await bob.call(method, url, body)).status, `${method} ${url}`).toBe(404);
  });

  test('hides every row and rejects writes by row-level security alone', async () => {
    for (const table of ['items', 'item_versions', 'item_terms', 'feed_counts', 'feed_sources', 'feed_pools']) {
      const column = sql.ref(table === 'feed_counts' ? 'publisher' : 'organization_id');
      const query = sql<{ n: number }>`select count(*) as n from ${sql.table(table)} where ${column} is not null`;
      const count = (org: TestOrg) => inOrg(app.deps.db, org.id, (tx) => queryRow(tx, query));
      expect((await count(alice))!.n, table).toBeGreaterThan(0);
      expect((await count(bob))!.n, table).toBe(0);
    }
    const changed = await inOrg(app.deps.db, bob.id, (tx) => sql`update items set title = 'x'`.execute(tx));
    expect(changed.numAffectedRows).toBe(0n);
    const [item] = (await alice.call('GET', '/items?perPage=1')).body.items;
    const pool = await inOrg(
      app.deps.db,
      alice.id,
      (tx) => queryRow<{ id: string }>(tx)`select id from feed_pools where organization_id = ${alice.id}`,
    );
    for (const statement of [
      sql`insert into item_versions values (${alice.id}, ${item.id}, ${pool!.id}, 99, 'x', '{}', '', '', now())`,
      // All organizations see the public pool, but none of them can write to it.
      sql`insert into feed_counts values ('00000000-0000-7000-8000-000000000001', 'high', 'active', 'p', 's', '', 1)`,
    ])
      await expect(inOrg(app.deps.db, bob.id, (tx) => statement.execute(tx))).rejects.toThrow(/row-level security/);
    for (const statement of [sql`update feed_pools set seq = 0`, sql`delete from feed_pools`]) {
      const touched = await inOrg(app.deps.db, bob.id, (tx) => sql`${statement} where kind = 'public'`.execute(tx));
      expect(touched.numAffectedRows).toBe(0n);
    }
  });

  test('keeps a private source private regardless of its marking, and requires feed:admin for a shared one', async () => {
    const user = await app.newKey(alice, ['feed:read', 'feed:write']);
    const input = { kind: 'kev', name: 'x', url: 'https://example.test/kev.json' };
    expect((await user.call('POST', '/api/feed/sources', { ...input, visibility: 'shared' })).status).toBe(403);
    const refused = await user.call('POST', '/api/feed/sources', { ...input, assignedTo: [bob.id] });
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/assignedTo']);
    expect((await user.call('POST', '/api/feed/sources', { ...input, tlp: 'CLEAR' })).body).toMatchObject({
      visibility: 'private',
      tlp: 'CLEAR',
    });
  });
});

describe('shared sources', () => {
  const setUp = async () => {
    const app = await startApp();
    const [owner, friend, other] = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
    const totals = async () =>
      Promise.all([owner, friend, other].map(async (org) => (await org.call('GET', '/items')).body.total as number));
    return { app, owner, friend, other, totals };
  };

  test('shares items with all organizations, but keeps RED items with the owner', async () => {
    const { app, owner, other, totals } = await setUp();
    const open = await fileSource(app, owner, { kind: 'stix', visibility: 'shared' });
    await open.pull(stixBundle(['a.example']));
    expect(await totals()).toEqual([1, 1, 1]);
    const closed = await fileSource(app, owner, { kind: 'stix', visibility: 'shared' });
    await closed.pull(stixBundle(['b.example'], red));
    expect(await totals()).toEqual([2, 1, 1]);
    expect((await other.call('GET', '/items')).body.items[0].source.tlp).toBe('CLEAR');
    const seen = (await other.call('GET', `/api/feed/sources/${open.source.id}`)).body;
    expect(seen).toMatchObject({ own: false, visibility: 'shared' });
    expect(seen.assignedTo).toBeUndefined();
    expect(seen.url).toMatch(/^file:\/\/\/[^/]+$/);
    const user = await app.newKey(other, ['feed:read', 'feed:write']);
    expect((await user.call('DELETE', `/api/feed/sources/${open.source.id}`)).status).toBe(403);
  });

  test('hides an assigned source and its items from other organizations, and allows the list to change', async () => {
    const { app, owner, friend, other, totals } = await setUp();
    const some = await fileSource(app, owner, { kind: 'stix', visibility: 'shared', assignedTo: [friend.id] });
    await some.pull(stixBundle(['a.example']));
    expect(await totals()).toEqual([1, 1, 0]);
    const url = `/api/feed/sources/${some.source.id}`;
    expect((await other.call('GET', url)).status).toBe(404);
    expect((await owner.call('PUT', url, { assignedTo: [other.id] })).body.assignedTo).toEqual([other.id]);
    expect(await totals()).toEqual([1, 0, 1]);
    const refused = await owner.call('PUT', url, { assignedTo: null });
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/assignedTo']);
  });

  test('leaves an erased tombstone for organizations that may no longer see an item', async () => {
    const { app, owner, other, totals } = await setUp();
    const source = await fileSource(app, owner, { kind: 'stix', visibility: 'shared' });
    await source.pull(stixBundle(['secret.example']));
    expect(
      await source.pull(stixBundle(['secret.example'], { ...red, modified: '2024-02-01T00:00:00.000Z' })),
    ).toMatchObject({ added: 0, corrected: 1, retracted: 0 });
    expect(await totals()).toEqual([2, 1, 1]);
    const [tombstone] = (await other.call('GET', '/items')).body.items;
    expect(tombstone).toMatchObject({ version: 2, event: { status: 'retracted', title: 'Withdrawn' } });
    const detail = await other.call('GET', `/items/${tombstone.id}`);
    expect(JSON.stringify([tombstone, detail.body])).not.toMatch(/secret|made-up/);
    const kept = await inOrg(app.deps.db, other.id, (tx) =>
      sql`
        select 1 from item_versions where stored_text like '%secret%' or doc like '%secret%'
        union all select 1 from items where doc like '%secret%'`.execute(tx),
    );
    expect(kept.rows).toEqual([]);
    const terms = (org: TestOrg) =>
      inOrg(
        app.deps.db,
        org.id,
        (tx) => queryRows<{ kind: string; value: string }>(tx)`select kind, value from item_terms`,
      );
    expect(await terms(other)).toEqual([]);
    expect(await terms(owner)).toEqual([{ kind: 'indicator', value: 'secret.example' }]);
    const [own] = (await owner.call('GET', '/items')).body.items;
    expect(own).toMatchObject({ event: { title: 'A made-up report', status: 'active' }, source: { tlp: 'RED' } });
    const relatedOf = async (org: TestOrg, id: string) => (await org.call('GET', `/items/${id}`)).body.related;
    expect(await relatedOf(owner, tombstone.id)).toEqual([own.id]);
    expect(await relatedOf(other, tombstone.id)).toEqual([]);
    // The marking becomes looser again. Other organizations do not learn the id that only the owner saw meanwhile.
    await source.pull(stixBundle(['secret.example'], { modified: '2024-03-01T00:00:00.000Z' }));
    const [open] = (await other.call('GET', '/items')).body.items;
    expect(open.event.title).toBe('A made-up report');
    expect(await relatedOf(owner, open.id)).toEqual([own.id]);
    expect(await relatedOf(other, open.id)).toEqual([]);
  });
});
