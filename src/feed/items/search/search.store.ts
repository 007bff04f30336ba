import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { unavailableError } from '../../../platform/lib/errors.ts';
import type { ItemCountRow } from '../items.store.ts';
import { type ItemsPage, type PageRange, readPageRows } from '../list-query/page.store.ts';
import { overridesAt } from '../snapshot/override-rows.store.ts';
import { withCtes, type Sql, allOfStates, materialized, allOf } from '../snapshot/query.sql.ts';
import { withStateColumns, changedIds, isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  hasSampledText,
  searchCtes,
  type SearchOptions,
  changedSince,
  hadTerm,
  idsWithTerm,
  isAmong,
} from './search-query.sql.ts';
import { defaultSamples, estimateMatches, readSample, type Samples } from './search-estimate.ts';
import {
  choosePageMethod,
  readCollectedPage,
  readScannedPage,
  readWindowPage,
  rowsNeeded,
  type PageMethod,
} from './search-page.ts';
import { nilId } from '../../../platform/lib/ids.ts';
import { filterCtes, hasFilters, type ItemFilters, usesDuplicateRoots } from '../list-query/filters.sql.ts';
import { allRows, orderedRows } from '../list-query/ordered-rows.sql.ts';

const searchMs = 20_000;

/** Ranking reads the words of every match. To find the newest matches of a frequent text also reads those of other items. */
const [defaultRankedMax, frequentRankedMax] = [500, 200];

/** To look the terms up for each match costs less than to collect the items of a term, which are often as many. */
const rareMax = 20_000;

/** Bounds of the work for a text that matches many items. */
export type SearchBudget = { rankedMax?: number; samples?: Samples; method?: PageMethod };

/** `isEstimated` if the total is an estimate. `isFrequent` if many items match the text of the search, whatever its other conditions. */
export type SearchPage = ItemsPage & { isEstimated: boolean; isFrequent?: boolean };

/**
 * Returns one page of a search in a snapshot, with the number of matches. Collects all matches, or, of a frequent text, those that the page and
 * the ranking need, and estimates the number from a sample. Throws a 503 after 20 seconds.
 */
export async function readSearchPage(
  tx: Tx,
  snapshot: Snapshot,
  { limit, offset, now, ...options }: SearchOptions & PageRange & { now: Date },
  budget: SearchBudget = {},
): Promise<SearchPage> {
  return withSearchLimits(tx, async () => {
    const { fullText: query, isRanked } = options.search;
    const range = { limit, offset };
    if (!query) return { ...(await readNewestPage(tx, snapshot, options, range)), isEstimated: false };
    const rankAtMost = (most: number) => ({
      options,
      query,
      range,
      now,
      rankedMax: isRanked ? (budget.rankedMax ?? most) : 0,
    });
    const frequent = rankAtMost(frequentRankedMax);
    const samples = budget.samples ?? defaultSamples;
    const estimate = await estimateMatches(tx, snapshot, { options, query, samples, needed: rowsNeeded(frequent) });
    const search = estimate ? frequent : rankAtMost(defaultRankedMax);
    const method = estimate && (budget.method ?? (await choosePageMethod(tx, snapshot, { ...search, estimate })));
    const isFrequent = estimate !== undefined;
    if (method === 'scan')
      return { ...(await readScannedPage(tx, snapshot, { ...search, estimate: estimate! })), isFrequent };
    const page = method === 'window' && (await readWindowPage(tx, snapshot, { ...search, estimate: estimate! }));
    if (page) return { ...page, isFrequent };
    const isRare = !estimate || estimate.textTotal <= rareMax;
    const finder = method === 'compare' ? 'rest' : isRare ? 'rare text' : 'text';
    return { ...(await readCollectedPage(tx, snapshot, { ...search, finder })), isEstimated: false, isFrequent };
  });
}

const countedColumns = ['severity', 'status', 'platforms', 'publisher', 'source_name'];

/** Like `readItemCounts`, but counts only the items that match a search. Those of a frequent text are estimated from a sample. */
export async function readMatchCounts(
  tx: Tx,
  snapshot: Snapshot,
  { samples, ...options }: SearchOptions & { samples?: Samples },
): Promise<{ rows: ItemCountRow[]; isEstimated: boolean }> {
  const { filters, search } = options;
  const query = search.fullText;
  const sample = query && (await readSample(tx, snapshot, query, samples));
  const ctes = searchCtes(snapshot, options, {
    ...(query && sample ? { text: hasSampledText(query, sample) } : {}),
    isByText: query !== undefined,
  });
  const found = withStateColumns(sql`found`, countedColumns);
  const { overridesSeq } = filters;
  const seen: Sql =
    overridesSeq === undefined
      ? found
      : sql`
        select coalesce(o.severity, found.severity) as severity, coalesce(o.status, found.status) as status, platforms, publisher, source_name
        from (${found}) found left join ${overridesAt(overridesSeq)} o on o.item_id = found.id`;
  const counts = sql`
    select severity, status, array_to_string(platforms, ',') as platforms, publisher, source_name, count(*) * ${sample?.oneIn ?? 1}::int as n
    from (${seen}) seen group by severity, status, platforms, publisher, source_name`;
  const rows = await withSearchLimits(tx, () => queryRows<ItemCountRow>(tx)`${withCtes(ctes, counts)}`);
  return { rows, isEstimated: sample !== undefined };
}

/** Returns the search without its conditions besides the text. */
export const textOnly = ({ search }: SearchOptions): SearchOptions => ({
  filters: {},
  search: { ...search, terms: [], rootTerms: [], updatedSince: undefined, rootsOnly: false },
});

const queryCanceled = '57014';

/** Runs the statements of a search with more memory, on one core and for at most 20 seconds. Throws a 503 after that. */
export async function withSearchLimits<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await sql`
    select set_config('statement_timeout', ${String(searchMs)}, true), set_config('work_mem', '64MB', true), set_config('max_parallel_workers_per_gather', '0', true)`.execute(
    tx,
  );
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: string }).code !== queryCanceled) throw error;
    throw unavailableError('The search took longer than 20 seconds. Narrow it and try again.', 60);
  }
}

/**
 * Returns a page of a search without a text, newest items first, with the exact total. Collects all matches, unless an index has them in the order
 * of the list.
 */
function readNewestPage(tx: Tx, snapshot: Snapshot, options: SearchOptions, range: PageRange): Promise<ItemsPage> {
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
