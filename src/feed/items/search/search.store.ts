import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { unavailableError } from '../../../platform/lib/errors.ts';
import type { ItemCountRow } from '../items.store.ts';
import type { ItemsPage, PageRange } from '../list-query/page.store.ts';
import { overridesAt } from '../snapshot/override-rows.store.ts';
import { withCtes, type Sql } from '../snapshot/query.sql.ts';
import { withStateColumns } from '../snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hasSampledText, searchCtes, type SearchOptions } from './search-query.sql.ts';
import { readNewestPage } from './newest-page.store.ts';
import { defaultSamples, estimateMatches, readSample, type Samples } from './search-estimate.ts';
import {
  choosePageMethod,
  readCollectedPage,
  readScannedPage,
  readWindowPage,
  rowsNeeded,
  type PageMethod,
} from './search-page.ts';

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
  await sql`select set_config('statement_timeout', ${String(searchMs)}, true), set_config('work_mem', '64MB', true), set_config('max_parallel_workers_per_gather', '0', true)`.execute(
    tx,
  );
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: string }).code !== queryCanceled) throw error;
    throw unavailableError('The search took longer than 20 seconds. Narrow it and try again.', 60);
  }
}
