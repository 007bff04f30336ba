import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { hasFilters } from '../item-filters.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import { allOf, materialized, type Sql } from '../list-query/query.sql.ts';
import { changedIds, isInSnapshot } from '../list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hadTerm, idsWithTerm } from './search-conditions.sql.ts';
import type { SearchOptions } from './search-ctes.sql.ts';
import type { PageRange } from './search-page.ts';

/** Returns whether the ids of items decide which of them a search lists: those that have its terms, and those of `onlyIds`. */
export const isByTermsAlone = ({ filters, search }: SearchOptions): boolean =>
  search.terms.length + search.rootTerms.length > 0 &&
  search.fullText === undefined &&
  search.updatedSince === undefined &&
  !hasFilters({ ...filters, rootsOnly: search.rootsOnly });

/**
 * Returns a page of such a search and the exact total. Items are counted by their ids, and only those of the page are read. An id carries the time
 * at which its item was added (see `applyActions`), so the ids are in the order of the list.
 */
export function readPageByTerms(
  tx: Tx,
  snapshot: Snapshot,
  { search, onlyIds }: SearchOptions,
  { limit, offset }: PageRange,
): Promise<ItemsPage> {
  // Begins with a single value if there is one: an item has it once, but may have several values of one filter.
  const terms = [...search.terms, ...search.rootTerms].toSorted((a, b) => a.values.length - b.values.length);
  const [first, ...others] = [
    ...terms.map((term) => idsWithTerm(snapshot, term)),
    ...(onlyIds ? [onlyIds.ids] : []),
  ] as [Sql, ...Sql[]];
  const isListed = allOf([
    ...others.map((ids) => sql<boolean>`item_id in (${ids})`),
    sql`item_id not in (${changedIds(snapshot)})`,
  ]);
  const wasListed = allOf([
    isInSnapshot(snapshot).past,
    ...terms.map(hadTerm),
    onlyIds && sql`s.item_id in (${onlyIds.ids})`,
  ]);
  const itemIds = terms[0]!.values.length > 1 ? sql`select distinct item_id` : sql`select item_id`;
  const newest = sql`(select ids[greatest(cardinality(ids) - ${offset + limit}::bigint + 1, 1)::int:] from matched)`;
  return readPageRows(tx, {
    ctes: [
      materialized(
        'matched',
        sql`select array(${itemIds} from (${first}) held where ${isListed} order by item_id) as ids`,
      ),
      materialized(
        'found',
        sql`select s.item_id as id, s.added_to_feed_at, s.seq_from from item_states s where ${wasListed}`,
      ),
    ],
    page: sql`
      select id, added_to_feed_at, seq_from from (
        select i.id, i.added_to_feed_at, null::bigint as seq_from from items i where i.id = any(${newest}::uuid[])
        union all select * from found) listed
      order by added_to_feed_at desc, id desc limit ${limit} offset ${offset}`,
    total: sql`(select (select cardinality(ids) from matched) + (select count(*) from found) as n) total`,
  });
}
