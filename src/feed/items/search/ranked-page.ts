import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { orderedRows } from '../list-query/ordered-rows.sql.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import { materialized, withCtes, type Cte, type Sql } from '../list-query/query.sql.ts';
import { changedIds } from '../list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hadFullText, idsWithIndicator, isOneOf, matchesText, toTsquery } from './search-conditions.sql.ts';
import { matchingRows, searchCtes, type SearchOptions } from './search-ctes.sql.ts';
import type { FullTextQuery } from './search-query.ts';
import { isTextOnly } from './search-scan.ts';

export type PageRange = { limit: number; offset: number };
type RankedSearch = { options: SearchOptions; query: FullTextQuery; range: PageRange };

/** `total` is the number of matches, and `textTotal` that of the text alone. Only the newest `rankedMax` matches of the text are ranked. */
type FrequentSearch = RankedSearch & { total: number; textTotal: number; rankedMax: number };

const byScore = sql`score desc nulls last, added_to_feed_at desc, id desc`;

/** Returns a page of a search whose matches are all ranked. */
export function readRankedPage(
  tx: Tx,
  snapshot: Snapshot,
  { options, query, range }: RankedSearch,
): Promise<ItemsPage> {
  const page = sql`
    select * from (${withScore(query)}) found order by ${byScore} limit ${range.limit} offset ${range.offset}`;
  const total = sql`(select count(*) as n from found) total`;
  return readPageRows(tx, { ctes: searchCtes(snapshot, options), page, total, isRanked: true });
}

/**
 * Returns a page of a search of a frequent text. The newest matches of the text are ranked and come first, which needs only these. A page after
 * them scans the list in order, or collects all matches if there are other conditions.
 */
export async function readPageOfMany(
  tx: Tx,
  snapshot: Snapshot,
  { options, query, range, rankedMax, ...totals }: FrequentSearch,
): Promise<ItemsPage> {
  const { limit, offset } = range;
  const newest = await newestMatches(tx, snapshot, query, { matches: totals.textTotal, rankedMax });
  const ranked = withCtes(
    [newest, ...searchCtes(snapshot, options, { text: isOneOf(sql`select id from newest`) })],
    withScore(query),
  );
  const total = sql`(select ${totals.total}::bigint as n) total`;
  const read = (ctes: Cte[], rows: Sql): Promise<ItemsPage> => {
    const page = sql`select * from (${rows}) found order by ${byScore} limit ${limit} offset ${offset}`;
    return readPageRows(tx, { ctes, page, total, isRanked: true });
  };
  if (offset < rankedMax || offset >= totals.total) {
    const page = await read([], ranked);
    if (page.docs.length >= Math.min(limit, totals.total - offset)) return page;
  }
  const scanMax = offset + limit + rankedMax;
  const isScanned = isTextOnly(options) && totals.total >= scanMax * 100;
  const all = isScanned
    ? orderedRows(snapshot, {}, { limit: sql`${scanMax}`, match: matchesText(snapshot, query) })
    : sql`(select id, added_to_feed_at, seq_from from found)`;
  const rows = sql`
    with ranked as materialized (select id, added_to_feed_at, seq_from, score from (${ranked}) found)
    select * from ranked
    union all select rest.*, null from ${all} rest where rest.id not in (select id from ranked)`;
  return read(isScanned ? [] : searchCtes(snapshot, options), rows);
}

/** Adds the score of each found row. A row whose duplicate matched may have a low score of its own. */
const withScore = (query: FullTextQuery): Sql => sql`
  select found.*, case
    when found.seq_from is null then (
      select tocsin_search_score(w.words, ${toTsquery(query)}, coalesce(i.publish_time, i.added_to_feed_at))
      from item_search w join items i on i.id = w.item_id where w.item_id = found.id)
    else (
      select tocsin_search_score(s.words, ${toTsquery(query)}, coalesce(s.publish_time, s.added_to_feed_at))
      from item_states s where s.item_id = found.id and s.seq_from = found.seq_from)
  end as score
  from found`;

/** The cost of looking a match up, in rows of a scan in the order of ids. */
const lookupCost = 5;

/**
 * The CTE `newest`: ids of the newest matches of a text in a snapshot. Ids begin with their time. They are found by a scan in the order of ids,
 * or in the word index if the scan would pass too many rows. Items that changed since the snapshot are read beyond the limit, because their
 * current words do not count.
 */
async function newestMatches(
  tx: Tx,
  snapshot: Snapshot,
  query: FullTextQuery,
  { matches, rankedMax }: { matches: number; rankedMax: number },
): Promise<Cte> {
  const found = await queryRow<{ changed: number; items: number }>(tx)`
    select (select count(*) from (${changedIds(snapshot)}) changed) as changed,
      (select reltuples::float8 from pg_class where oid = 'item_search'::regclass) as items`;
  const { changed, items } = found!;
  const limit = rankedMax + changed;
  const isScanned = (limit * items) / matches < matches * lookupCost;
  const current = isScanned
    ? sql`select w.item_id as id from item_search w
        where w.pool_id = any(${snapshot.poolIds}::uuid[]) and w.words @@ ${toTsquery(query)}`
    : sql`select unnest(tocsin_find_words(${snapshot.poolIds}::uuid[], ${toTsquery(query)})) as id`;
  const ids = sql`
    (${current} order by id desc limit ${limit})
    union all (select item_id from (${idsWithIndicator(snapshot, query)}) t order by item_id desc limit ${limit})`;
  const rows = matchingRows(snapshot, [{ current: isOneOf(ids).current, past: hadFullText(query) }]);
  return materialized('newest', sql`select id from (${rows}) matches order by id desc limit ${rankedMax}`);
}
