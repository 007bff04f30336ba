import { sql } from 'kysely';
import { isOfSource, type ItemFilters, matchesAsOverridden } from '../list-query/filters.sql.ts';
import type { FullTextQuery, Search } from '../search-terms/search-query.ts';
import type { TermFilter } from '../search-terms/term-filters.ts';
import { overriddenIds, overridesAt } from '../snapshot/override-rows.store.ts';
import {
  allOfStates,
  byItemId,
  type Condition,
  type Cte,
  type IdSet,
  materialized,
  type Sql,
  type StateCondition,
} from '../snapshot/query.sql.ts';
import { isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** Ids as an array make the planner look the rows up by index, whatever their number. Ids as a subquery would be joined with all rows. */
const isCurrentOneOf = (ids: Sql): Condition => sql`i.id = any(array(${ids}))`;

/** `ids` is a query. */
const isOneOf = (ids: Sql): StateCondition => ({
  current: isCurrentOneOf(ids),
  past: sql`s.item_id in (${ids})`,
});

/**
 * Like `isOneOf`, for rows that other conditions find. Hashes the ids, which may be many. A plain `in` would be joined, and an array would be
 * compared id by id.
 */
export const isAmong = (ids: Sql): StateCondition => byItemId((id) => sql`coalesce(${id} in (${ids}), false)`);

const hasTerm = (snapshot: Snapshot, term: TermFilter): StateCondition => ({
  current: isCurrentOneOf(idsWithTerm(snapshot, term)),
  past: hadTerm(term),
});

/** Ids of the items that have a term, as a query. */
export const idsWithTerm = (snapshot: Snapshot, { kind, values }: TermFilter): Sql => sql`
  select item_id from item_terms t where t.kind = ${kind} and t.value = any(${values}::text[]) and t.pool_id = any(${snapshot.poolIds}::uuid[])`;

export const hadTerm = ({ kind, values }: TermFilter): Condition =>
  sql`s.terms && ${values.map((value) => `${kind} ${value}`)}::text[]`;

/** Matches the text, or its single word as an indicator: an item with very many indicators does not have them all in its search text. */
const hasFullText = (snapshot: Snapshot, query: FullTextQuery): StateCondition => ({
  current: sql`i.id = any((
    select tocsin_find_words(${snapshot.poolIds}::uuid[], ${toTsquery(query)}, '-infinity') || array(${idsWithIndicator(snapshot, query)}))::uuid[])`,
  past: hadFullText(query),
});

/** All items from a place in the order of the list on whose search text matches a text. */
export type NewestMatches = { ids: string[]; from: { at: string; id: string } };

/** Like `hasFullText`, but leaves out items before the place. */
export const hasFullTextAmong = (
  snapshot: Snapshot,
  query: FullTextQuery,
  { ids, from }: NewestMatches,
): StateCondition => {
  const isFrom = (id: Sql): Condition => sql`(added_to_feed_at, ${id}) >= (${from.at}::timestamptz, ${from.id}::uuid)`;
  return {
    current: sql`i.id = any((${ids}::uuid[] || array(${idsWithIndicator(snapshot, query)}))::uuid[]) and ${isFrom(sql`i.id`)}`,
    past: sql`${isFrom(sql`s.item_id`)} and (${hadFullText(query)})`,
  };
};

/** The items of a sample of one in `oneIn` that match a text. */
export type TextSample = { oneIn: number; ids: string[] };

/** Like `hasFullText`, but in a sample, and without items that only have the word as an indicator. */
export const hasSampledText = (query: FullTextQuery, { oneIn, ids }: TextSample): StateCondition => ({
  current: sql`i.id = any(${ids}::uuid[])`,
  past: sql`uuid_hash(s.item_id) & ${oneIn - 1}::int = 0 and (${hadFullText(query)})`,
});

export const hadFullText = (query: FullTextQuery): Condition =>
  sql`(s.words @@ ${toTsquery(query)} or ${hadTerm(indicatorTerm(query))})`;

const idsWithIndicator = (snapshot: Snapshot, query: FullTextQuery): Sql => idsWithTerm(snapshot, indicatorTerm(query));

const indicatorTerm = ({ indicatorForms }: FullTextQuery): TermFilter => ({
  kind: 'indicator',
  values: indicatorForms,
});

export const toTsquery = ({ text, partial }: FullTextQuery): Sql => {
  const all = sql`tocsin_text_query(${text})`;
  if (!partial) return all;
  const groups = partial.groups.map((places) =>
    sql.join(
      places.map((place) => sql`tocsin_text_query(${partial.texts[place]!.text})`),
      sql` && `,
    ),
  );
  return sql`(${sql.join([all, ...groups.map((group) => sql`(${group})`)], sql` || `)})`;
};

/** Returns what a row's words score besides their rank: more than any rank for each part of the text that matches, by its weight. */
export const partialScore = ({ text, partial }: FullTextQuery): Sql => {
  if (!partial) return sql`0`;
  const total = partial.texts.reduce((sum, { weight }) => sum + weight, 0);
  const scores = [{ text, weight: total }, ...partial.texts].map(
    ({ text: part, weight }) =>
      sql`case when words @@ tocsin_text_query(${part}) then ${weight * partialFactor}::float8 else 0 end`,
  );
  return sql.join(scores, sql` + `);
};

const partialFactor = 1_000;

/** Like the current condition of `hasFullText`, but for few rows: compares the words of an item instead of collecting all matches. */
export const itemMatchesText = (snapshot: Snapshot, query: FullTextQuery, id: Sql): Condition =>
  sql`${searchTextMatches(query, id)} or ${id} in (${idsWithIndicator(snapshot, query)})`;

/** A subquery, so that the search text is read only for the rows that the other conditions leave. */
export const searchTextMatches = (query: FullTextQuery, id: Sql): Condition =>
  sql`coalesce((select w.words @@ ${toTsquery(query)} from item_search w where w.item_id = ${id}), false)`;

/** Like `hasTerm`, but for few rows that other conditions find. */
const comparesTerm = (term: TermFilter): StateCondition => ({
  current: itemHasTerm(term, sql`i.id`),
  past: hadTerm(term),
});

/** The current condition of `comparesTerm` for any id. Avoids `exists`, for which the planner may read the terms of all items. */
export const itemHasTerm = ({ kind, values }: TermFilter, id: Sql): Condition => sql`
  coalesce((select true from item_terms t where t.item_id = ${id} and t.kind = ${kind} and t.value = any(${values}::text[]) limit 1), false)`;

/** A time from which on items were updated. An override also updates the item, for its organization. */
type UpdatePeriod = { since: string; overridesSeq: number | undefined };

/** Returns the condition that an item was updated, which no index serves. */
export const isUpdatedSince = ({ since, overridesSeq }: UpdatePeriod): StateCondition =>
  byItemId((id) =>
    overridesSeq === undefined
      ? isLastUpdatedSince(since)
      : sql`${isLastUpdatedSince(since)} or ${id} in ${overriddenSince(since, overridesSeq)}`,
  );

/**
 * Returns the alternatives of `isUpdatedSince` for items that were added before, of which each item meets one at most. Each is found by an index.
 * Such items are few in comparison with those that were added since.
 */
export function changedSince({ since, overridesSeq }: UpdatePeriod): StateCondition[] {
  const isAddedBefore: Condition = sql`added_to_feed_at < ${since}::timestamptz`;
  // The last condition is that of the index, which leaves out items that have not changed since they were added.
  const isChanged: Condition = sql`${isAddedBefore} and ${isLastUpdatedSince(since)} and last_updated > added_to_feed_at`;
  if (overridesSeq === undefined) return [byItemId(() => isChanged)];
  const overridden = overriddenSince(since, overridesSeq);
  return [
    byItemId((id) => sql`${isChanged} and ${id} not in ${overridden}`),
    allOfStates([byItemId(() => isAddedBefore), isOneOf(overridden)]),
  ];
}

/** Like `changedSince`, with the items that were added since. */
const updatedSince = ({ poolIds }: Snapshot, period: UpdatePeriod): StateCondition[] =>
  [byItemId(() => isAddedSince(period.since)), ...changedSince(period)].map(({ current, past }) => ({
    // The list of the pools lets one scan of an index find the items of all of them.
    current: sql<boolean>`i.pool_id = any(${poolIds}::uuid[]) and ${current}`,
    past,
  }));

/** Ids of the items that were updated since a time, overrides aside, as a query. */
export const idsUpdatedSince = ({ poolIds }: Snapshot, since: string): Sql => sql`
  select id from items where pool_id = any(${poolIds}::uuid[]) and ${isAddedSince(since)}
  union all
  select id from items where pool_id = any(${poolIds}::uuid[]) and added_to_feed_at < ${since}::timestamptz
    and ${isLastUpdatedSince(since)} and last_updated > added_to_feed_at`;

const isAddedSince = (since: string): Condition => sql`added_to_feed_at >= ${since}::timestamptz`;

const isLastUpdatedSince = (since: string): Condition => sql`last_updated >= ${since}::timestamptz`;

const overriddenSince = (since: string, overridesSeq: number): Sql =>
  overriddenIds(overridesSeq, sql`o.updated_at >= ${since}::timestamptz`);

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
const rootsOf = (found: Sql, overridesSeq: number | undefined): Sql =>
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
