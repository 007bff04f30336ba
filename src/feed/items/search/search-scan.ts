import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { orderedRows } from '../list-query/ordered-rows.sql.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import type { Condition, StateCondition } from '../list-query/query.sql.ts';
import { changedIds, isInSnapshot } from '../list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hadFullText, idsWithIndicator, toTsquery } from './search-conditions.sql.ts';
import type { FullTextQuery } from './search-query.ts';

/**
 * Returns a page of a full-text search by scanning the list in order, for queries that match a large part of the feed. The matches are
 * counted, but not collected. Returns undefined if there are fewer than `matchesPerRow` matches for each row up to the page's end: with 100,
 * the scan passes at most a hundredth of the feed. Returns undefined as well if there are fewer than `scannedMin` matches.
 */
export async function scanForText(
  tx: Tx,
  snapshot: Snapshot,
  options: { query: FullTextQuery; limit: number; offset: number; matchesPerRow?: number; scannedMin?: number },
): Promise<ItemsPage | undefined> {
  const { query, limit, offset, matchesPerRow = 100, scannedMin = 0 } = options;
  const total = await countMatches(tx, snapshot, query);
  if (total < Math.max((offset + limit) * matchesPerRow, scannedMin)) return undefined;
  const match: StateCondition = {
    current: sql`${searchTextMatches(query)} or i.id in (${idsWithIndicator(snapshot, query)})`,
    past: hadFullText(query),
  };
  const listed = orderedRows(snapshot, {}, { limit: sql`${offset + limit}`, match });
  const page = sql`select * from ${listed} listed limit ${limit} offset ${offset}`;
  return readPageRows(tx, { ctes: [], page, total: sql`(select ${total}::bigint as n) total` });
}

/** A subquery, so that the search text is read only for the rows that the scan passes. */
const searchTextMatches = (query: FullTextQuery): Condition =>
  sql`coalesce((select w.words @@ ${toTsquery(query)} from item_search w where w.item_id = i.id), false)`;

/** Counts the matches of a snapshot: the current matches, corrected by the few items that changed since. */
async function countMatches(tx: Tx, snapshot: Snapshot, query: FullTextQuery): Promise<number> {
  const { current, past } = isInSnapshot(snapshot);
  const matches = searchTextMatches(query);
  const found = await queryRow<{ n: number }>(tx)`
      select tocsin_count_words(${snapshot.poolIds}::uuid[], ${toTsquery(query)})
        - (select count(*) from items i where i.id in (${changedIds(snapshot)}) and ${matches})
        + (select count(*) from items i where (${current}) and i.id = any(array(${idsWithIndicator(snapshot, query)})) and not ${matches})
        + (select count(*) from item_states s where (${past}) and (${hadFullText(query)})) as n`;
  return found!.n;
}
