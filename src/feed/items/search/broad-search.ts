import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { matchesAsOverridden } from '../list-query/filters.sql.ts';
import { readPageRows } from '../list-query/page.store.ts';
import { allOf, type Sql } from '../list-query/query.sql.ts';
import { isInSnapshot } from '../list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { idsWithTerm } from './search-conditions.sql.ts';
import type { SearchOptions } from './search-ctes.sql.ts';
import { toScannedPage, type EstimatedPage, type PageRange } from './search-page.ts';
import { matchOf, scanSearch } from './search-scan.sql.ts';

/** A search with more matches than this is broad. */
export const defaultCollectMax = 40_000;

/** Items in the sample in which the matches of a broad search are counted. */
const sampleItems = 20_000;

/** A page is scanned if it probably passes no more items than this, or than there are matches to collect. */
const passedMax = 20_000;

/** The estimated matches, and the items that the list has until the end of the page. */
type BroadEstimate = { total: number; passed: number | null };

/**
 * Returns a page of a search without a text that matches so much of the feed that collecting the matches would take long: reads the list up
 * to the end of the page, and estimates the total from a sample. Returns undefined if the matches should be collected: they are at most
 * `collectMax`, or too far from the beginning of the list.
 */
export async function readBroadPage(
  tx: Tx,
  snapshot: Snapshot,
  { options, range, collectMax }: { options: SearchOptions; range: PageRange; collectMax: number },
): Promise<EstimatedPage | undefined> {
  if (!(await isBroad(tx, snapshot, options, collectMax))) return undefined;
  const { limit, offset } = range;
  const needed = offset + limit + 1;
  const { total, passed } = await estimateBroad(tx, snapshot, options, needed);
  if (passed === null || passed > Math.max(passedMax, total)) return undefined;
  const { ctes, rows } = scanSearch(snapshot, options, needed);
  // One row more tells whether there is another page.
  const page = sql`select * from ${rows} listed order by added_to_feed_at desc, id desc limit ${limit + 1} offset ${offset}`;
  const read = await readPageRows(tx, { ctes, page, total: sql`(select 0 as n) total` });
  return toScannedPage(read, range, Math.round(total));
}

/** Whether more than `max` items meet each condition of the search. */
async function isBroad(tx: Tx, snapshot: Snapshot, { search, onlyIds }: SearchOptions, max: number): Promise<boolean> {
  const { terms, rootTerms, updatedSince } = search;
  const conditions: Sql[] = [
    ...(updatedSince
      ? [
          sql`select from items where pool_id = any(${snapshot.poolIds}::uuid[]) and last_updated >= ${updatedSince}::timestamptz`,
        ]
      : []),
    ...[...terms, ...rootTerms].map((term) => idsWithTerm(snapshot, term)),
    ...(onlyIds ? [sql`select from (${onlyIds}) ids`] : []),
  ];
  for (const condition of conditions) {
    const found = await queryRow<{ n: number }>(tx)`
      select count(*)::int as n from (select from (${condition}) met limit ${max + 1}) counted`;
    if (found!.n <= max) return false;
  }
  return true;
}

/**
 * Counts the matches in a sample of the blocks of the table. Previous states are few and all counted. `passed` is null if the sample has too
 * few matches.
 */
async function estimateBroad(
  tx: Tx,
  snapshot: Snapshot,
  options: SearchOptions,
  needed: number,
): Promise<BroadEstimate> {
  const items = (await queryRow<{ n: number }>(
    tx,
  )`select greatest(reltuples, 1)::float8 as n from pg_class where oid = 'items'::regclass`)!.n;
  const oneIn = Math.max(1, items / sampleItems);
  const place = oneIn === 1 ? needed : Math.ceil((1.5 * needed) / oneIn) + 1;
  const { sources: _matchedWithSearch, ...columnFilters } = options.filters;
  const filters = { ...columnFilters, rootsOnly: options.search.rootsOnly };
  const inSnapshot = isInSnapshot(snapshot);
  const match = matchOf(snapshot, options);
  const found = await queryRow<{ n: number; passed: number | null }>(tx)`
    with sampled as materialized (
      select i.added_to_feed_at, ${1 / oneIn}::float8 as share, (${allOf([matchesAsOverridden(filters, sql`i.id`), match.current])}) as matches
      from items i tablesample system (${100 / oneIn}) repeatable (1) where ${inSnapshot.current}
      union all
      select s.added_to_feed_at, 1, true from item_states s
      where ${allOf([inSnapshot.past, matchesAsOverridden(filters, sql`s.item_id`), match.past])}
    ), since as (
      select added_to_feed_at as at from sampled where matches order by added_to_feed_at desc limit 1 offset ${place - 1}
    )
    select coalesce((select sum(1 / share) from sampled where matches), 0)::float8 as n,
      (select sum(1 / share) from sampled, since where added_to_feed_at >= since.at)::float8 as passed`;
  return { total: found!.n, passed: found!.passed };
}
