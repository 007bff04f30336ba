import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { nilId } from '../../../platform/lib/ids.ts';
import { filterCtes, hasFilters, type ItemFilters, usesDuplicateRoots } from '../list-query/filters.sql.ts';
import { allRows, orderedRows } from '../list-query/ordered-rows.sql.ts';
import { readPageRows, type ItemsPage, type PageRange } from '../list-query/page.store.ts';
import { allOfStates, materialized, allOf, type Sql } from '../snapshot/query.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { changedSince, hadTerm, idsWithTerm, isAmong, searchCtes, type SearchOptions } from './search-query.sql.ts';
import { changedIds, isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';

/**
 * Returns a page of a search without a text, newest items first, with the exact total. Collects all matches, unless an index has them in the order
 * of the list.
 */
export function readNewestPage(
  tx: Tx,
  snapshot: Snapshot,
  options: SearchOptions,
  range: PageRange,
): Promise<ItemsPage> {
  if (isByTermsAlone(options)) return readPageByTerms(tx, snapshot, options, range);
  if (isByUpdateAlone(options)) return readPageByUpdate(tx, snapshot, options, range);
  const { limit, offset } = range;
  const page = sql`select * from found order by added_to_feed_at desc, id desc limit ${limit} offset ${offset}`;
  const total = sql`(select count(*) as n from found) total`;
  return readPageRows(tx, { ctes: searchCtes(snapshot, options), page, total });
}

const filtersOf = ({ filters, search }: SearchOptions): ItemFilters => ({ ...filters, rootsOnly: search.rootsOnly });

/** Returns whether a search restricts a list by the time of the last update, and otherwise by the columns of items and by `onlyIds` alone. */
const isByUpdateAlone = (options: SearchOptions): boolean =>
  options.search.updatedSince !== undefined &&
  options.search.fullText === undefined &&
  options.search.terms.length + options.search.rootTerms.length === 0 &&
  !usesDuplicateRoots(filtersOf(options));

/**
 * Returns a page of such a search and the exact total. The items that were added since are the beginning of the list: they are counted, and read up
 * to the end of the page. The others that were updated are few, and all of them are found.
 */
function readPageByUpdate(
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

/** Returns whether the ids of items decide which of them a search lists: those that have its terms, and those of `onlyIds`. */
const isByTermsAlone = ({ filters, search }: SearchOptions): boolean =>
  search.terms.length + search.rootTerms.length > 0 &&
  search.fullText === undefined &&
  search.updatedSince === undefined &&
  !hasFilters({ ...filters, rootsOnly: search.rootsOnly });

/**
 * Returns a page of such a search and the exact total. Items are counted by their ids, and only those of the page are read. An id carries the time
 * at which its item was added (see `planCommit`), so the ids are in the order of the list.
 */
function readPageByTerms(
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
