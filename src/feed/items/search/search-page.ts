import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import { materialized, type Cte, type Sql } from '../list-query/query.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hadFullText, itemMatchesText, toTsquery } from './search-conditions.sql.ts';
import { searchCtes, type SearchOptions } from './search-ctes.sql.ts';
import type { MatchEstimate } from './search-estimate.ts';
import type { FullTextQuery } from './search-query.ts';
import { scanSearch } from './search-scan.sql.ts';

export type PageRange = { limit: number; offset: number };

/** The newest `rankedMax` matches are ranked and come first. */
export type TextSearch = { options: SearchOptions; query: FullTextQuery; range: PageRange; rankedMax: number };

const byScore = sql`score desc nulls last, added_to_feed_at desc, id desc`;

/**
 * Returns a page of a text search and the exact total. Collects all matches, so the cost grows with the matches and not with the feed. Of a
 * frequent text, only the items that have the other terms of the search are compared.
 */
export function readCollectedPage(
  tx: Tx,
  snapshot: Snapshot,
  search: TextSearch & { isFrequent: boolean },
): Promise<ItemsPage> {
  const { options, query, isFrequent } = search;
  const text = { current: itemMatchesText(snapshot, query, sql`i.id`), past: hadFullText(query) };
  const ctes = [
    ...searchCtes(snapshot, options, isFrequent && hasTerms(options) ? { text } : {}),
    numbered(sql`found`),
  ];
  const total = sql`(select count(*) as n from found) total`;
  return readPageRows(tx, { ctes, page: rankedPage(search), total, isRanked: true });
}

/**
 * Returns a page of a search that matches a large part of the feed. Reads no more rows than up to the end of the page, or the ranked ones. The
 * total is the estimate, unless the list ends on the page.
 */
export async function readScannedPage(
  tx: Tx,
  snapshot: Snapshot,
  search: TextSearch & { estimate: MatchEstimate },
): Promise<ItemsPage & { isEstimated: boolean }> {
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

/** Costs of a row, in the cost of a collected match: to pass it in the list, and to compare its words. */
const [passCost, compareCost] = [0.02, 0.5];

/**
 * Whether a page is read faster by a scan of the list than by collecting all matches of the text. A scan that reaches the end of the list
 * passes all items, and is assumed to compare half of them.
 */
export async function isScanFaster(tx: Tx, search: TextSearch & { estimate: MatchEstimate }): Promise<boolean> {
  const { textTotal, total } = search.estimate;
  const found = await queryRow<{ items: number }>(tx)`
    select greatest(reltuples, 1)::float8 as items from pg_class where oid = 'item_search'::regclass`;
  const { items } = found!;
  const needed = rowsNeeded(search);
  const [passed, compared] =
    needed < total ? [(needed * items) / total, (needed * items) / textTotal] : [items, items / 2];
  return passed * passCost + compared * compareCost < textTotal;
}

const rowsNeeded = ({ range: { limit, offset }, rankedMax }: TextSearch): number =>
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
