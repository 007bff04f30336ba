import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { orderedRows } from '../list-query/ordered-rows.sql.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import { changedIds, isInSnapshot } from '../list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hadFullText, idsWithIndicator, matchesText, searchTextMatches, toTsquery } from './search-conditions.sql.ts';
import type { SearchOptions } from './search-ctes.sql.ts';
import type { FullTextQuery } from './search-query.ts';

/** Reports whether a search has no condition besides its text. */
export function isTextOnly({ filters, search, onlyIds }: SearchOptions): boolean {
  const { overridesSeq: _unused, ...columnFilters } = filters;
  const { fullText, terms, rootTerms, updatedSince, rootsOnly } = search;
  const others = terms.length + rootTerms.length + Object.keys(columnFilters).length;
  return fullText !== undefined && onlyIds === undefined && updatedSince === undefined && !rootsOnly && others === 0;
}

/**
 * Returns a page of a full-text search by scanning the list in order, for queries that match a large part of the feed. `total` is the number of
 * matches. Returns undefined if there are fewer than `matchesPerRow` matches for each row up to the page's end: with 100, the scan passes at
 * most a hundredth of the feed.
 */
export async function scanForText(
  tx: Tx,
  snapshot: Snapshot,
  options: { query: FullTextQuery; total: number; limit: number; offset: number; matchesPerRow?: number },
): Promise<ItemsPage | undefined> {
  const { query, total, limit, offset, matchesPerRow = 100 } = options;
  if (total < (offset + limit) * matchesPerRow) return undefined;
  const match = matchesText(snapshot, query);
  const listed = orderedRows(snapshot, {}, { limit: sql`${offset + limit}`, match });
  const page = sql`select * from ${listed} listed limit ${limit} offset ${offset}`;
  return readPageRows(tx, { ctes: [], page, total: sql`(select ${total}::bigint as n) total` });
}

/** Counts the matches of a text in a snapshot: the current matches, corrected by the few items that changed since. */
export async function countText(tx: Tx, snapshot: Snapshot, query: FullTextQuery): Promise<number> {
  const { current, past } = isInSnapshot(snapshot);
  const matches = searchTextMatches(query);
  const found = await queryRow<{ n: number }>(tx)`
      select tocsin_count_words(${snapshot.poolIds}::uuid[], ${toTsquery(query)})
        - (select count(*) from items i where i.id in (${changedIds(snapshot)}) and ${matches})
        + (select count(*) from items i where (${current}) and i.id = any(array(${idsWithIndicator(snapshot, query)})) and not ${matches})
        + (select count(*) from item_states s where (${past}) and (${hadFullText(query)})) as n`;
  return found!.n;
}
