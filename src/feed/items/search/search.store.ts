import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { unavailableError } from '../../../platform/lib/errors.ts';
import type { ItemFilters } from '../item-filters.ts';
import { overriddenIds, overridesAt } from '../overrides/overrides.sql.ts';
import { isOfSource, matchesAsOverridden } from '../list-query/filters.sql.ts';
import { readPageRows, type ItemsPage } from '../list-query/page.store.ts';
import {
  allOfStates,
  byItemId,
  materialized,
  type Cte,
  type Sql,
  type StateCondition,
} from '../list-query/query.sql.ts';
import { isInSnapshot } from '../list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { isPoolVisible, visiblePoolIds } from '../visible-pools.sql.ts';
import { hasFullText, hasTerm, isOneOf, toTsquery } from './search-conditions.sql.ts';
import type { FullTextQuery, Search } from './search-query.ts';
import { scanForText } from './search-scan.ts';

/** `onlyIds` is a query of the ids to which the list is restricted. */
type SearchOptions = { filters: ItemFilters; search: Search; onlyIds?: Sql | undefined };

const searchMs = 20_000;

/**
 * Returns one page of a search in a snapshot, with the number of matches. All matches are collected once, so the cost grows with the matches
 * and not with the feed. A full-text search that matches very many items is answered by a scan instead. Throws a 503 after 20 seconds.
 */
export async function readSearchPage(
  tx: Tx,
  snapshot: Snapshot,
  { limit, offset, ...options }: SearchOptions & { limit: number; offset: number },
): Promise<ItemsPage> {
  await sql`select set_config('statement_timeout', ${String(searchMs)}, true), set_config('work_mem', '64MB', true), set_config('max_parallel_workers_per_gather', '0', true)`.execute(
    tx,
  );
  return withTimeoutError(async () => {
    const { fullText, isRanked } = options.search;
    const query = fullTextOnly(options);
    const scannedMin = isRanked ? rankedMax + 1 : 0;
    const scanned = query && (await scanForText(tx, snapshot, { query, limit, offset, scannedMin }));
    if (scanned) return scanned;
    const rows = isRanked ? sql`(${withScore(fullText!)}) found` : sql`found`;
    const score = isRanked ? sql`score desc nulls last,` : sql``;
    const page = sql`select * from ${rows} order by ${score} added_to_feed_at desc, id desc limit ${limit} offset ${offset}`;
    const total = sql`(select count(*) as n from found) total`;
    return readPageRows(tx, { ctes: searchCtes(snapshot, options), page, total, isRanked });
  });
}

/** Ranking reads the words of every match. */
const rankedMax = 5_000;

/** Adds the score of each found row, or null if there are too many. A row whose duplicate matched may have a low score of its own. */
const withScore = (query: FullTextQuery): Sql => sql`
  select found.*, case
    when (select count(*) from found) > ${rankedMax} then null
    when found.seq_from is null then (
      select tocsin_search_score(w.words, ${toTsquery(query)}, coalesce(i.publish_time, i.added_to_feed_at))
      from item_search w join items i on i.id = w.item_id where w.item_id = found.id)
    else (
      select tocsin_search_score(s.words, ${toTsquery(query)}, coalesce(s.publish_time, s.added_to_feed_at))
      from item_states s where s.item_id = found.id and s.seq_from = found.seq_from)
  end as score
  from found`;

/** The full-text query, if the search has no other condition. */
function fullTextOnly({ filters, search, onlyIds }: SearchOptions): FullTextQuery | undefined {
  const { overridesSeq: _unused, ...columnFilters } = filters;
  const { fullText, terms, rootTerms, updatedSince, rootsOnly } = search;
  const hasOthers =
    onlyIds !== undefined ||
    updatedSince !== undefined ||
    rootsOnly ||
    terms.length + rootTerms.length + Object.keys(columnFilters).length > 0;
  return hasOthers ? undefined : fullText;
}

const queryCanceled = '57014';

async function withTimeoutError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: string }).code !== queryCanceled) throw error;
    throw unavailableError('The search took longer than 20 seconds. Narrow it and try again.', 60);
  }
}

/** The CTE `found`, preceded by `matched` (ids of roots) if a duplicate may match for its root. */
function searchCtes(snapshot: Snapshot, { filters, search, onlyIds }: SearchOptions): Cte[] {
  const { sources, rootsOnly: _unused, ...columnFilters } = filters;
  const matchesColumns = byItemId((id) => matchesAsOverridden({ ...columnFilters, rootsOnly: search.rootsOnly }, id));
  const ownConditions = [
    matchesColumns,
    ...search.rootTerms.map((term) => hasTerm(snapshot, term)),
    ...(onlyIds ? [isOneOf(onlyIds)] : []),
    ...(search.updatedSince ? [isUpdatedSince(search.updatedSince, filters.overridesSeq)] : []),
  ];
  const groupConditions = [
    ...(sources ? [byItemId(() => isOfSource(sources))] : []),
    ...search.terms.map((term) => hasTerm(snapshot, term)),
    ...(search.fullText ? [hasFullText(snapshot, search.fullText)] : []),
  ];
  if (!search.rootsOnly || groupConditions.length === 0)
    return [materialized('found', matchingRows(snapshot, [...ownConditions, ...groupConditions]))];
  const matched = rootsOf(matchingRows(snapshot, groupConditions), filters.overridesSeq);
  return [
    materialized('matched', matched),
    materialized('found', matchingRows(snapshot, [...ownConditions, isOneOf(sql`select id from matched`)])),
  ];
}

/** Ids of the roots of rows as the organization sees them, as a query. */
const rootsOf = (found: Sql, overridesSeq: number | undefined): Sql =>
  overridesSeq === undefined
    ? sql`select coalesce(duplicate_of, id) as id from (${found}) rows`
    : sql`select coalesce(case when o.moved then o.duplicate_of else rows.duplicate_of end, rows.id) as id
        from (${found}) rows left join ${overridesAt(overridesSeq)} o on o.item_id = rows.id`;

/** An override also updates the item, for its organization. */
const isUpdatedSince = (since: string, overridesSeq: number | undefined): StateCondition =>
  byItemId((id) =>
    overridesSeq === undefined
      ? sql`last_updated >= ${since}::timestamptz`
      : sql`last_updated >= ${since}::timestamptz or ${id} in ${overriddenIds(overridesSeq, sql`o.updated_at >= ${since}::timestamptz`)}`,
  );

/** Listed rows with `duplicate_of`. */
function matchingRows(snapshot: Snapshot, conditions: StateCondition[]): Sql {
  const { current, past } = allOfStates([isInSnapshot(snapshot), ...conditions]);
  return sql`
    select i.id, i.duplicate_of, i.added_to_feed_at, null::bigint as seq_from from items i where ${current}
    union all
    select s.item_id, s.duplicate_of, s.added_to_feed_at, s.seq_from from item_states s where ${past}`;
}

export type ItemSearchResult = {
  id: string;
  title: string;
  severity: string;
  status: string;
  publisher: string;
  publishTime: Date | null;
};

/** Returns the newest items visible to the organization that contain all words of `text`, with its overrides applied. */
export function searchItems(tx: Tx, text: string, limit: number): Promise<ItemSearchResult[]> {
  return queryRows<ItemSearchResult>(tx)`
      select i.id, i.title, coalesce(o.severity, i.severity) as severity, coalesce(o.status, i.status) as status, i.publisher,
        i.publish_time as "publishTime"
      from items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id
      where i.id = any((select tocsin_find_words(array(select id from feed_pools where ${isPoolVisible}), tocsin_text_query(${text})))::uuid[])
        and i.pool_id in ${visiblePoolIds}
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`;
}
