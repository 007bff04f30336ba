import type { Tx } from '../../../platform/db/db.ts';
import { foldSource, hasSearch, isTextOnly, toItemFilters, type FeedFilters } from '../feed-filters.ts';
import { readItemCounts, type ItemCountRow } from '../items.store.ts';
import { relevantItems } from '../list-query/relevant-items.store.ts';
import type { OrgState } from '../snapshot/org-state.store.ts';
import { enoughMatches, listOtherSearches, type CorrectionContext } from './correct-search.ts';
import { readMatchCounts } from './search.store.ts';

type CountContext = CorrectionContext & { orgState: OrgState };

/** `isEstimated` if the items of a sample were counted, each for several. */
type MatchCounts = { rows: ItemCountRow[]; isEstimated: boolean };

/**
 * Counts the items by the columns that lists filter by. Of the filters by these columns only `source` applies. The numbers of a frequent text
 * are estimates.
 */
async function readFilteredCounts(
  tx: Tx,
  filters: FeedFilters,
  { snapshot, orgState, now }: CountContext,
): Promise<MatchCounts> {
  const { search, source, relevancyMode, requirement } = filters;
  const { overridesSeq } = orgState;
  const onlyIds = relevancyMode === 'relevant' ? relevantItems(orgState, requirement) : undefined;
  const { rootsOnly } = search;
  if (!hasSearch(search) && source === undefined && !onlyIds)
    return { rows: await readItemCounts(tx, snapshot, { overridesSeq, rootsOnly }), isEstimated: false };
  const columns = { ...filters, severity: undefined, status: undefined, platform: undefined };
  const itemFilters = await toItemFilters(tx, columns, { snapshot, orgState, now });
  return readMatchCounts(tx, snapshot, { filters: itemFilters, search, onlyIds });
}

type SourceCounts = { bySource: MatchCounts; ofAllSources: MatchCounts };

/**
 * Returns the counts of the items of the wanted source, and of those of all sources. A text that no item matches is corrected or searched
 * in parts, as in lists.
 */
export async function readSourceCounts(tx: Tx, filters: FeedFilters, context: CountContext): Promise<SourceCounts> {
  const countMatches = ({ bySource }: SourceCounts): number =>
    bySource.rows.reduce((sum, row) => sum + (matchesColumns(filters, row) ? row.n : 0), 0);
  const counts = await countSources(tx, filters, context);
  const total = countMatches(counts);
  // A text that is counted in a sample has many matches.
  if (total >= enoughMatches || counts.ofAllSources.isEstimated) return counts;
  const written = { search: filters.search, total, isTextOnly: isTextOnly(filters) };
  for (const { search } of await listOtherSearches(tx, written, context)) {
    const others = await countSources(tx, { ...filters, search }, context);
    if (countMatches(others) > total && !(others.ofAllSources.isEstimated && total > 0)) return others;
  }
  return counts;
}

/** With `duplicates=hide`, an item also matches by the source of a duplicate, which only the database knows. */
async function countSources(tx: Tx, filters: FeedFilters, context: CountContext): Promise<SourceCounts> {
  const { source, search } = filters;
  const ofAllSources = await readFilteredCounts(tx, { ...filters, source: undefined }, context);
  if (source === undefined) return { bySource: ofAllSources, ofAllSources };
  if (search.rootsOnly) return { bySource: await readFilteredCounts(tx, filters, context), ofAllSources };
  const wanted = foldSource(source);
  const isWanted = ({ publisher, source_name }: ItemCountRow): boolean =>
    foldSource(publisher) === wanted || foldSource(source_name) === wanted;
  return { bySource: { ...ofAllSources, rows: ofAllSources.rows.filter(isWanted) }, ofAllSources };
}

export type ColumnFilter = 'severity' | 'status' | 'platform';

/** Returns whether counted items match the filters by severity, status and platform, except the filter `without`. */
export function matchesColumns(
  { severity, status, platform }: FeedFilters,
  row: ItemCountRow,
  without?: ColumnFilter,
): boolean {
  return (
    (without === 'severity' || severity === undefined || row.severity === severity) &&
    (without === 'status' || status === undefined || row.status === status) &&
    (without === 'platform' || !platform || row.platforms.split(',').includes(platform))
  );
}
