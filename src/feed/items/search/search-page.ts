import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { nilId } from '../../../platform/lib/ids.ts';
import { readPageRows, type ItemsPage, type PageRange } from '../list-query/page.store.ts';
import { materialized, type Cte, type Sql } from '../snapshot/query.sql.ts';
import { hasManyPools } from '../snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  hadFullText,
  hasFullTextAmong,
  idsUpdatedSince,
  idsWithTerm,
  itemMatchesText,
  type NewestMatches,
  partialScore,
  type SearchBounds,
  searchCtes,
  type SearchOptions,
  toTsquery,
} from './search-query.sql.ts';
import type { MatchEstimate } from './search-estimate.ts';
import type { FullTextQuery } from '../search-terms/search-query.ts';
import { lookUpsMax, scanSearch } from './search-scan.sql.ts';

/** The newest `rankedMax` matches are ranked, by their age at `now` among others, and come first. */
type TextSearch = {
  options: SearchOptions;
  query: FullTextQuery;
  range: PageRange;
  now: Date;
  rankedMax: number;
};

const byScore = sql`score desc nulls last, added_to_feed_at desc, id desc`;

/**
 * How the items of a search are found: by its text, by its text that so few items match that they are compared with the rest of the search, or by
 * its other terms or its time, and then their words are compared.
 */
type Finder = 'text' | 'rare text' | 'rest';

/** `newest` restricts the search to the items among which these are the matches of its text. */
type Collection = TextSearch & { finder: Finder; newest?: NewestMatches };

/**
 * Returns a page of a text search and the exact total. Collects all matches, so the cost grows with the matches and not with the
 * feed.
 */
export function readCollectedPage(tx: Tx, snapshot: Snapshot, search: Collection): Promise<ItemsPage> {
  const ctes = [...searchCtes(snapshot, search.options, boundsOf(snapshot, search)), numbered(sql`found`)];
  const total = sql`(select count(*) as n from found) total`;
  return readPageRows(tx, { ctes, page: rankedPage(search), total, isRanked: true });
}

function boundsOf(snapshot: Snapshot, { query, finder, newest }: Collection): SearchBounds {
  if (newest) return { text: hasFullTextAmong(snapshot, query, newest), isByText: true };
  if (finder !== 'rest') return { isByText: finder === 'rare text' };
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
  for (const [index, since] of estimate.windows.entries()) {
    const most = textMatchesNeeded(search) * 4 ** index;
    const newest = await readNewestMatches(tx, snapshot, { query: search.query, since, most });
    const page = await readCollectedPage(tx, snapshot, { ...search, finder: 'rare text', newest });
    if (page.total >= rowsNeeded(search))
      return { ...page, total: Math.max(estimate.total, page.total), isEstimated: true };
  }
  return undefined;
}

/** Returns the newest `most` matches of a text, or all that were added since a time if they are fewer. */
async function readNewestMatches(
  tx: Tx,
  { poolIds }: Snapshot,
  { query, since, most }: { query: FullTextQuery; since: string; most: number },
): Promise<NewestMatches> {
  const found = await queryRow<{ ids: string[]; at: string | null }>(tx)`
    select ids::text[] as ids, (select added_to_feed_at::text from items where id = ids[${most}::int]) as at
    from (select tocsin_newest_words(${poolIds}::uuid[], ${toTsquery(query)}, ${since}, ${most}) as ids offset 0) matches`;
  const { ids, at } = found!;
  return { ids, from: at === null ? { at: since, id: nilId } : { at, id: ids[most - 1]! } };
}

/** Returns how many matches of the text probably contain as many matches of the whole search as needed. */
const textMatchesNeeded = (search: EstimatedSearch): number =>
  Math.ceil((matchesMargin * rowsNeeded(search) * search.estimate.textTotal) / Math.max(search.estimate.total, 1));

/**
 * Returns a page of a search that matches a large part of the feed. Reads no more rows than up to the end of the page, or the ranked ones. The
 * total is the estimate, unless the list ends on the page.
 */
export async function readScannedPage(tx: Tx, snapshot: Snapshot, search: EstimatedSearch): Promise<EstimatedPage> {
  const { options, range, estimate } = search;
  const { limit, offset } = range;
  const { ctes, rows } = scanSearch(snapshot, options, { limit: rowsNeeded(search), passed: rowsPassed(search) });
  // One extra row shows whether there is another page.
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

/**
 * How a page is read: `collect` from all matches of the text, `compare` from all items that have the other terms or were updated since the time,
 * `window` from the matches among the newest items, and `scan` from the items of the list one after another.
 */
export type PageMethod = 'collect' | 'compare' | 'window' | 'scan';

/**
 * Costs in the cost of a collected match, 1.5 µs on the machine of the benchmarks: to pass a row of the list, to compare its words, to read and
 * compare the words of the next newest item, to read an item that has one of the words from the index, and to find an item by a term and compare
 * its words.
 */
const [passCost, compareCost, streamCost, indexCost, termCost] = [0.2, 1, 0.5, 0.3, 3];

/** More matches than needed are read, because some are not in the snapshot, and their share of the text's matches is an estimate. */
const matchesMargin = 1.2;

/**
 * Returns the method that reads a page fastest. A scan that reaches the end of the list passes all items, and is assumed to compare half of
 * them. It looks terms and the ids of the list up for every item that it passes. A window does not find the roots whose duplicates match.
 */
export async function choosePageMethod(tx: Tx, snapshot: Snapshot, search: EstimatedSearch): Promise<PageMethod> {
  const { options, estimate } = search;
  const { textTotal, items } = estimate;
  const { terms, rootTerms, rootsOnly } = options.search;
  const needed = rowsNeeded(search);
  const isWithin = endsWithinList(search);
  const passed = rowsPassed(search);
  const compared = isWithin ? (needed * items) / textTotal : items / 2;
  const hasLookUps = terms.length + rootTerms.length > 0 || (options.onlyIds && passed <= lookUpsMax);
  const lookUpCost = hasLookUps ? compareCost : 0;
  // A scan of many pools passes as many rows of each.
  const timesPassed = hasManyPools(snapshot) ? Math.min(snapshot.poolIds.length, items / Math.max(passed, 1)) : 1;
  const costs: [PageMethod, number][] = [
    ['collect', textTotal + countHolders(search) * indexCost],
    ['scan', timesPassed * (passed * (passCost + lookUpCost) + compared * compareCost)],
  ];
  if (isWithin && !rootsOnly) costs.push(['window', matchesMargin * passed * streamCost + textMatchesNeeded(search)]);
  const [method, cost] = costs.toSorted(([, a], [, b]) => a - b)[0]!;
  const comparedMax = Math.ceil(cost / termCost);
  return (await hasMoreToCompare(tx, snapshot, options, comparedMax)) ? method : 'compare';
}

const endsWithinList = (search: EstimatedSearch): boolean => rowsNeeded(search) < search.estimate.total;

/** Returns how many rows of the list a scan passes. */
const rowsPassed = (search: EstimatedSearch): number => {
  const { total, items } = search.estimate;
  return endsWithinList(search) ? (rowsNeeded(search) * items) / total : items;
};

/**
 * Returns whether a search would compare the words of more than `most` items: of those that have the rarest of its terms, or were updated since its time. A
 * duplicate may match the text for a root that was updated.
 */
async function hasMoreToCompare(tx: Tx, snapshot: Snapshot, { search }: SearchOptions, most: number): Promise<boolean> {
  const { terms, rootTerms, rootsOnly, updatedSince } = search;
  const finders = (rootsOnly ? terms : [...terms, ...rootTerms]).map((term) => idsWithTerm(snapshot, term));
  if (finders.length === 0 && updatedSince && !rootsOnly) finders.push(idsUpdatedSince(snapshot, updatedSince));
  if (finders.length === 0) return true;
  const counts = finders.map((ids) => sql`(select count(*) from (${ids} limit ${most + 1}) compared)`);
  return (await queryRow<{ n: number }>(tx)`select least(${sql.join(counts)}) as n`)!.n > most;
}

/** Returns about how many items contain each word of a text, added up, if its words are equally frequent and independent. */
function countHolders({ query, estimate: { textTotal, items } }: EstimatedSearch): number {
  const words = query.text.trim().split(/\s+/).length;
  return words * items * Math.min(textTotal / items, 1) ** (1 / words);
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
const rankedPage = ({ query, rankedMax, now, range: { limit, offset } }: TextSearch): Sql => sql`
  select * from (
    select id, added_to_feed_at, seq_from, case
      when place > ${rankedMax} then null
      when seq_from is null then (
        select tocsin_search_score(words, ${toTsquery(query)}, coalesce(i.publish_time, i.added_to_feed_at), ${now}) + ${partialScore(query)}
        from item_search w join items i on i.id = w.item_id where w.item_id = listed.id)
      else (
        select tocsin_search_score(words, ${toTsquery(query)}, coalesce(s.publish_time, s.added_to_feed_at), ${now}) + ${partialScore(query)}
        from item_states s where s.item_id = listed.id and s.seq_from = listed.seq_from)
    end as score
    from listed
  ) scored order by ${byScore} limit ${limit} offset ${offset}`;
