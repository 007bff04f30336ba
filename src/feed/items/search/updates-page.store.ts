import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { nilId } from '../../../platform/lib/ids.ts';
import { usesDuplicateRoots, type ItemFilters } from '../item-filters.ts';
import { filterCtes } from '../list-query/filter-ctes.sql.ts';
import { allRows, orderedRows } from '../list-query/ordered-rows.sql.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import { allOfStates, materialized } from '../list-query/query.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { isAmong } from './search-conditions.sql.ts';
import type { SearchOptions } from './search-ctes.sql.ts';
import type { PageRange } from './search-page.ts';
import { changedSince } from './updated-since.sql.ts';

const filtersOf = ({ filters, search }: SearchOptions): ItemFilters => ({ ...filters, rootsOnly: search.rootsOnly });

/** Returns whether a search restricts a list by the time of the last update, and otherwise by the columns of items and by `onlyIds` alone. */
export const isByUpdateAlone = (options: SearchOptions): boolean =>
  options.search.updatedSince !== undefined &&
  options.search.fullText === undefined &&
  options.search.terms.length + options.search.rootTerms.length === 0 &&
  !usesDuplicateRoots(filtersOf(options));

/**
 * Returns a page of such a search and the exact total. The items that were added since are the beginning of the list: they are counted, and read up
 * to the end of the page. The others that were updated are few, and all of them are found.
 */
export function readPageByUpdate(
  tx: Tx,
  snapshot: Snapshot,
  options: SearchOptions,
  { limit, offset }: PageRange,
): Promise<ItemsPage> {
  const { search, onlyIds } = options;
  const filters = filtersOf(options);
  const since = search.updatedSince!;
  const start = { at: new Date(since), id: nilId };
  const among = onlyIds && isAmong(sql`select id from wanted`);
  const added = { until: start, match: among };
  const changed = changedSince({ since, overridesSeq: filters.overridesSeq }).map((isChanged) => {
    const match = among ? allOfStates([isChanged, among]) : isChanged;
    return sql`select id, added_to_feed_at, seq_from from ${allRows(snapshot, filters, { match })} rows`;
  });
  const newest = orderedRows(snapshot, filters, { ...added, limit: sql`${offset + limit}` });
  return readPageRows(tx, {
    ctes: [
      ...(onlyIds ? [materialized('wanted', sql`select id from (${onlyIds.ids}) ids (id)`)] : []),
      ...filterCtes(snapshot, filters),
      materialized('found', sql.join(changed, sql` union all `)),
    ],
    page: sql`
      select * from (select * from ${newest} added union all select * from found) listed
      order by added_to_feed_at desc, id desc limit ${limit} offset ${offset}`,
    total: sql`(select (select count(*) from ${allRows(snapshot, filters, added)} added) + (select count(*) from found) as n) total`,
  });
}
