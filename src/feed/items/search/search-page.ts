import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import { materialized, type Cte, type Sql } from '../list-query/query.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hadFullText, hasFullText, isAddedSince, itemMatchesText, toTsquery } from './search-conditions.sql.ts';
import { searchCtes, type SearchBounds, type SearchOptions } from './search-ctes.sql.ts';
import { windowMargin, type MatchEstimate } from './search-estimate.ts';
import type { FullTextQuery } from './search-query.ts';
import { scanSearch } from './search-scan.sql.ts';

export type PageRange = { limit: number; offset: number };

/** The newest `rankedMax` matches are ranked and come first. */
export type TextSearch = { options: SearchOptions; query: FullTextQuery; range: PageRange; rankedMax: number };

const byScore = sql`score desc nulls last, added_to_feed_at desc, id desc`;

/** `since` restricts the search to items that were added at this time or later. */
type Collection = TextSearch & { isFrequent: boolean; since?: string };

/**
 * Returns a page of a text search and the exact total. Collects all matches, so the cost grows with the matches and not with the feed. Of a
 * frequent text, only the items that have the other terms of the search are compared.
 */
export function readCollectedPage(tx: Tx, snapshot: Snapshot, search: Collection): Promise<ItemsPage> {
  const ctes = [...searchCtes(snapshot, search.options, boundsOf(snapshot, search)), numbered(sql`found`)];
  const total = sql`(select count(*) as n from found) total`;
  return readPageRows(tx, { ctes, page: rankedPage(search), total, isRanked: true });
}

function boundsOf(snapshot: Snapshot, { options, query, isFrequent, since }: Collection): SearchBounds {
  if (since !== undefined) return { text: hasFullText(snapshot, query, since), rows: isAddedSince(since) };
  if (!isFrequent || !hasTerms(options)) return {};
  return { text: { current: itemMatchesText(snapshot, query, sql`i.id`), past: hadFullText(query) } };
}

type EstimatedSearch = TextSearch & { estimate: MatchEstimate };
type EstimatedPage = ItemsPage & { isEstimated: boolean };

/**
 * Returns a page of a search from the matches among the newest items, as many of them as the page and the ranking need. Returns undefined if
 * there are not enough.
 */
export async function readWindowPage(
  tx: Tx,
  snapshot: Snapshot,
  search: EstimatedSearch,
): Promise<EstimatedPage | undefined> {
  const { estimate } = search;
  for (const since of estimate.windows) {
    const page = await readCollectedPage(tx, snapshot, { ...search, isFrequent: true, since });
    if (page.total >= rowsNeeded(search))
      return { ...page, total: Math.max(estimate.total, page.total), isEstimated: true };
  }
  return undefined;
}

/**
 * Returns a page of a search that matches a large part of the feed. Reads no more rows than up to the end of the page, or the ranked ones. The
 * total is the estimate, unless the list ends on the page.
 */
export async function readScannedPage(tx: Tx, snapshot: Snapshot, search: EstimatedSearch): Promise<EstimatedPage> {
  const { options, range, estimate } = search;
  const { limit, offset } = range;
  const { ctes, rows } = scanSearch(snapshot, options, rowsNeeded(search));
  // One row more tells whether there is another page.
  const page = rankedPage({ ...search, range: { offset, limit: limit + 1 } });
  const total = sql`(select 0 as n) total`;
  const read = await readPageRows(tx, { ctes: [...ctes, numbered(rows)], page, total, isRanked: true });
  const found = read.docs.length;
  if (found > limit) {
    const atLeast = offset + limit + 1;
    return { ...read, docs: read.docs.slice(0, limit), total: Math.max(estimate.total, atLeast), isEstimated: true };
  }
  if (found > 0 || offset === 0) return { ...read, total: offset + found, isEstimated: false };
  return { ...read, total: Math.min(estimate.total, offset), isEstimated: true };
}

export const hasTerms = ({ search: { terms, rootTerms } }: SearchOptions): boolean =>
  terms.length + rootTerms.length > 0;

/** How a page is read: from all matches, from those among the newest items, or by comparing the items of the list one after another. */
export type PageMethod = 'collect' | 'window' | 'scan';

/**
 * Costs in the cost of a collected match: to pass a row of the list, to compare its words, and to read a match from the index without its item.
 */
const [passCost, compareCost, indexCost] = [0.02, 0.5, 0.005];

/**
 * Returns the method that reads a page fastest. A scan that reaches the end of the list passes all items, and is assumed to compare half of
 * them. A window does not find the roots whose duplicates match.
 */
export async function choosePageMethod(tx: Tx, search: EstimatedSearch): Promise<PageMethod> {
  const { options, estimate } = search;
  const { textTotal, total } = estimate;
  if (hasTerms(options)) return 'collect';
  const items = await countFeed(tx);
  const needed = rowsNeeded(search);
  const isWithin = needed < total;
  const [passed, compared] = isWithin ? [(needed * items) / total, (needed * items) / textTotal] : [items, items / 2];
  const costs: Record<PageMethod, number> = {
    collect: textTotal,
    scan: passed * passCost + compared * compareCost,
    window:
      isWithin && !options.search.rootsOnly
        ? textTotal * indexCost + (windowMargin * passed * textTotal) / items
        : Number.POSITIVE_INFINITY,
  };
  const methods = Object.keys(costs) as PageMethod[];
  return methods.toSorted((a, b) => costs[a] - costs[b])[0]!;
}

/** Returns the number of items of the feed, as the planner knows it. */
async function countFeed(tx: Tx): Promise<number> {
  const found = await queryRow<{ items: number }>(tx)`
    select greatest(reltuples, 1)::float8 as items from pg_class where oid = 'item_search'::regclass`;
  return found!.items;
}

/** Returns how many of the newest matches the page and the ranking need. */
export const rowsNeeded = ({ range: { limit, offset }, rankedMax }: Pick<TextSearch, 'range' | 'rankedMax'>): number =>
  Math.max(rankedMax, offset + limit + 1);

/** The CTE `listed`: listed rows with their place in the order of the list. */
const numbered = (rows: Sql): Cte =>
  materialized(
    'listed',
    sql`select id, added_to_feed_at, seq_from, row_number() over (order by added_to_feed_at desc, id desc) as place from ${rows} rows`,
  );

/** The rows of a page of `listed`: the newest ones by score, then the others. A row whose duplicate matched may have a low score of its own. */
const rankedPage = ({ query, rankedMax, range: { limit, offset } }: TextSearch): Sql => sql`
  select * from (
    select id, added_to_feed_at, seq_from, case
      when place > ${rankedMax} then null
      when seq_from is null then (
        select tocsin_search_score(w.words, ${toTsquery(query)}, coalesce(i.publish_time, i.added_to_feed_at))
        from item_search w join items i on i.id = w.item_id where w.item_id = listed.id)
      else (
        select tocsin_search_score(s.words, ${toTsquery(query)}, coalesce(s.publish_time, s.added_to_feed_at))
        from item_states s where s.item_id = listed.id and s.seq_from = listed.seq_from)
    end as score
    from listed
  ) scored order by ${byScore} limit ${limit} offset ${offset}`;
