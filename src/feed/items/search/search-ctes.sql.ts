import { sql } from 'kysely';
import { type ItemFilters, isOfSource, matchesAsOverridden } from '../list-query/filters.sql.ts';
import {
  allOfStates,
  byItemId,
  materialized,
  type Cte,
  type IdSet,
  type Sql,
  type StateCondition,
} from '../snapshot/query.sql.ts';
import { isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';
import { overridesAt } from '../snapshot/override-rows.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  comparesTerm,
  hasFullText,
  hasTerm,
  isAmong,
  isOneOf,
  isUpdatedSince,
  updatedSince,
} from './search-conditions.sql.ts';
import type { Search } from '../search-terms/search-query.ts';
import type { TermFilter } from '../search-terms/term-filters.ts';

/** `onlyIds` are the ids to which the list is restricted. */
export type SearchOptions = { filters: ItemFilters; search: Search; onlyIds?: IdSet | undefined };

/**
 * How the rows of a search are found. `text` replaces the condition of the text. `members` is a condition on the rows that may match for their
 * root. With `isByText`, the text finds few rows, and the other conditions are compared with these.
 */
export type SearchBounds = { text?: StateCondition; members?: StateCondition; isByText?: boolean };

/** The CTE `found`, preceded by `matched` (ids of roots) if a duplicate may match for its root. */
export function searchCtes(
  snapshot: Snapshot,
  { filters, search, onlyIds }: SearchOptions,
  { text, members, isByText = false }: SearchBounds = {},
): Cte[] {
  const { sources, rootsOnly: _unused, ...columnFilters } = filters;
  const matchesColumns = byItemId((id) => matchesAsOverridden({ ...columnFilters, rootsOnly: search.rootsOnly }, id));
  const toCondition = (term: TermFilter): StateCondition => (isByText ? comparesTerm(term) : hasTerm(snapshot, term));
  const ownConditions = [matchesColumns, ...search.rootTerms.map(toCondition)];
  const groupConditions = [
    ...(sources ? [byItemId(() => isOfSource(sources))] : []),
    ...search.terms.map(toCondition),
    ...(search.fullText ? [text ?? hasFullText(snapshot, search.fullText)] : []),
  ];
  if (onlyIds && isByText) ownConditions.push(byItemId(onlyIds.contains));
  else if (onlyIds) {
    const isByRoot = search.rootsOnly && groupConditions.length > 0;
    const hasIds = isByRoot || search.fullText || search.terms.length + search.rootTerms.length > 0;
    ownConditions.push(hasIds ? isAmong(onlyIds.ids) : isOneOf(onlyIds.ids));
  }
  const updates = updateAlternatives(snapshot, search, {
    overridesSeq: filters.overridesSeq,
    isFoundByText: isByText || text === undefined,
  });
  const foundCte = (conditions: StateCondition[]): Cte => {
    const alternatives = updates.map((update) => matchingRows(snapshot, [...ownConditions, update, ...conditions]));
    return materialized('found', sql.join(alternatives, sql` union all `));
  };
  if (!search.rootsOnly || groupConditions.length === 0) return [foundCte(groupConditions)];
  const memberRows = matchingRows(snapshot, [...groupConditions, ...(members ? [members] : [])]);
  return [
    materialized('matched', rootsOf(memberRows, filters.overridesSeq)),
    foundCte([isOneOf(sql`select id from matched`)]),
  ];
}

/** Ids of the roots of rows as the organization sees them, as a query. */
export const rootsOf = (found: Sql, overridesSeq: number | undefined): Sql =>
  overridesSeq === undefined
    ? sql`select coalesce(duplicate_of, id) as id from (${found}) rows`
    : sql`select coalesce(case when o.moved then o.duplicate_of else rows.duplicate_of end, rows.id) as id
        from (${found}) rows left join ${overridesAt(overridesSeq)} o on o.item_id = rows.id`;

/**
 * Returns the alternatives by which updated rows are found. A term, or a text
 * that is not compared, finds the rows once for all of them.
 */
function updateAlternatives(
  snapshot: Snapshot,
  { updatedSince: since, fullText, terms, rootTerms }: Search,
  { overridesSeq, isFoundByText }: { overridesSeq: number | undefined; isFoundByText: boolean },
): StateCondition[] {
  if (since === undefined) return [allOfStates([])];
  const period = { since, overridesSeq };
  return (fullText && isFoundByText) || terms.length + rootTerms.length > 0
    ? [isUpdatedSince(period)]
    : updatedSince(snapshot, period);
}

/** Listed rows with `duplicate_of`. */
function matchingRows(snapshot: Snapshot, conditions: StateCondition[]): Sql {
  const { current, past } = allOfStates([isInSnapshot(snapshot), ...conditions]);
  return sql`
    select i.id, i.duplicate_of, i.added_to_feed_at, null::bigint as seq_from from items i where ${current}
    union all
    select s.item_id, s.duplicate_of, s.added_to_feed_at, s.seq_from from item_states s where ${past}`;
}
