import { sql } from 'kysely';
import { expect, inject, test } from 'vitest';
import { markAsRead } from '../../bench/feed-million/kept-feed.ts';
import { multiplyItems } from '../../bench/feed-million/multiply-items.ts';
import { firstNumber, pullSeeds, buildSeeds } from '../../bench/feed-million/seed-sources.ts';
import { toReaderVersion } from '../../src/feed/ingestion/content-hash.ts';
import { acrossOrgs, type Db } from '../../src/platform/db/db.ts';
import { callerOf } from '../support/org-requests.ts';
import { selectIn } from '../support/select-rows.ts';
import { startApp, type TestApp } from '../support/harness.ts';

const [numbers, copies] = [40, 3];
const day = new Date();

/** Starts a program that has pulled the entries with these numbers. */
async function filled(first: number): Promise<TestApp> {
  const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
  const org = await app.newOrg();
  await pullSeeds(callerOf(org), buildSeeds(first, numbers, day), 'shared');
  return app;
}

// Values that necessarily differ are replaced by these words.
const plainDoc = (column: string) => sql`
  replace(replace(replace(replace(regexp_replace(${sql.raw(column)}, '127.0.0.1:[0-9]+', 'server', 'g'), i.id::text, 'own id'), coalesce(i.duplicate_of, i.id)::text, 'id of the root'),
    ${iso('i.created_at')}, 'created'), ${iso('i.last_updated')}, 'updated')`;
const iso = (column: string) => sql`to_char(${sql.raw(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Returns everything stored for the items numbered from `first`, without ids, times, hashes and file names. */
function storedFrom(db: Db, first: number): Promise<unknown[]> {
  return selectIn(db)`
      select to_jsonb(i) - '{id,organization_id,source_id,pool_id,duplicate_of,seq,added_to_feed_at,created_at,last_updated,content_hash,record_hash}'::text[]
          || jsonb_build_object('doc', ${plainDoc('i.doc')}, 'own_doc', ${plainDoc('i.own_doc')}) as item,
        root.record_id || ' ' || root.source_name as root, i.added_to_feed_at = i.created_at as "isAdded", i.last_updated > i.created_at as "isChanged",
        substr(i.id::text, 1, 13) = overlay(lpad(to_hex((extract(epoch from i.created_at) * 1000)::bigint), 12, '0') placing '-' from 9 for 0) as "isTimed",
        array(select to_jsonb(v) - '{organization_id,item_id,pool_id,at}'::text[]
          || jsonb_build_object('doc', ${plainDoc('v.doc')}, 'at', case v.at when i.created_at then 'created' when i.last_updated then 'updated' end)
          from item_versions v where v.item_id = i.id order by v.version) as versions,
        array(select concat_ws(' ', t.kind, t.value, t.identifying, t.entity, t.seen_at) from item_terms t where t.item_id = i.id order by 1) as terms,
        (select s.words::text from item_search s where s.item_id = i.id) as words
      from items i join items root on root.id = coalesce(i.duplicate_of, i.id)
      where substring(i.record_id from '[1-9][0-9]{7}$')::int between ${first} and ${first + numbers - 1}
      order by i.source_name, i.record_id`;
}

const counts = (db: Db): Promise<{ n: number; roots: number }[]> =>
  selectIn(
    db,
  )`select severity, status, publisher, source_name, platforms, n, roots from feed_counts order by 1, 2, 3, 4, 5`;

const indexes = (db: Db): Promise<unknown[]> =>
  selectIn(db)`select indexdef from pg_indexes where tablename like 'item%' order by indexdef`;

/** Returns the sequence numbers of the items and of their pools, and which items were added last. */
const positions = (db: Db): Promise<unknown[]> =>
  selectIn(db)`
    select i.record_id, i.source_name, i.seq, p.seq as pool, i.added_to_feed_at = max(i.added_to_feed_at) over () as "isLast"
    from items i join feed_pools p on p.id = i.pool_id order by 1, 2`;

/** The benchmark has a server of its own, whose settings it changes. */
const superuserUrl = inject('superuserUrl');
const asSuperuser = ({ url }: TestApp): string => new URL(new URL(url).pathname, superuserUrl!).href;

test.skipIf(superuserUrl === null)('the benchmark copies an item exactly as the program stores it', async () => {
  const copied = await filled(firstNumber);
  const read = await filled(firstNumber + 2 * numbers);
  const all = await multiplyItems(asSuperuser(copied), { copies, existing: 1, numbers }, () => undefined);
  const expected = await storedFrom(read.deps.db, firstNumber + 2 * numbers);
  expect(all).toBe(expected.length * copies);
  expect(expected.filter((item) => (item as { isChanged: boolean }).isChanged)).not.toEqual([]);
  expect(await storedFrom(copied.deps.db, firstNumber + 2 * numbers)).toEqual(expected);
  expect(await counts(copied.deps.db)).toEqual(
    (await counts(read.deps.db)).map((row) => ({ ...row, n: row.n * copies, roots: row.roots * copies })),
  );
  expect(await indexes(copied.deps.db)).toEqual(await indexes(read.deps.db));
});

test.skipIf(superuserUrl === null)(
  'copies added to a feed are those that it would have if it had been filled at once',
  async () => {
    const [atOnce, extended] = [await filled(firstNumber), await filled(firstNumber)];
    await multiplyItems(asSuperuser(atOnce), { copies: 4, existing: 1, numbers }, () => undefined);
    await multiplyItems(asSuperuser(extended), { copies: 2, existing: 1, numbers }, () => undefined);
    const all = await multiplyItems(asSuperuser(extended), { copies: 4, existing: 2, numbers }, () => undefined);
    for (const copy of [1, 2, 3]) {
      const expected = await storedFrom(atOnce.deps.db, firstNumber + copy * numbers);
      expect(all).toBe(expected.length * 4);
      expect(await storedFrom(extended.deps.db, firstNumber + copy * numbers)).toEqual(expected);
    }
    expect(await counts(extended.deps.db)).toEqual(await counts(atOnce.deps.db));
    expect(await indexes(extended.deps.db)).toEqual(await indexes(atOnce.deps.db));
    expect(await positions(extended.deps.db)).toEqual(await positions(atOnce.deps.db));
  },
);

test('the items of a kept feed count as read by the current version', async () => {
  const { deps, url } = await filled(firstNumber);
  const before = await indexes(deps.db);
  const readings = () => selectIn(deps.db)`select distinct reading from items`;
  await acrossOrgs(deps.db, (tx) => sql`update items set reading = 1`.execute(tx));
  await markAsRead(url);
  expect(await readings()).toEqual([{ reading: toReaderVersion(false, 0) }]);
  expect(await indexes(deps.db)).toEqual(before);
});
