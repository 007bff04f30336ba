import { sql } from 'kysely';
import type { Condition, Sql, StateCondition } from '../list-query/query.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { FullTextQuery, TermFilter } from './search-query.ts';

/** Ids as an array make the planner look the rows up by index, whatever their number. Ids as a subquery would be joined with all rows. */
const isCurrentOneOf = (ids: Sql): Condition => sql`i.id = any(array(${ids}))`;

/** `ids` is a query. */
export const isOneOf = (ids: Sql): StateCondition => ({
  current: isCurrentOneOf(ids),
  past: sql`s.item_id in (${ids})`,
});

export const hasTerm = (snapshot: Snapshot, term: TermFilter): StateCondition => ({
  current: isCurrentOneOf(idsWithTerm(snapshot, term)),
  past: hadTerm(term),
});

const idsWithTerm = (snapshot: Snapshot, { kind, values }: TermFilter): Sql => sql`
  select item_id from item_terms t where t.kind = ${kind} and t.value = any(${values}::text[]) and t.pool_id = any(${snapshot.poolIds}::uuid[])`;
const hadTerm = ({ kind, values }: TermFilter): Condition =>
  sql`s.terms && ${values.map((value) => `${kind} ${value}`)}::text[]`;

/**
 * Matches the text, or its single word as an indicator: an item with very many indicators does not have them all in its search text.
 */
export const hasFullText = (snapshot: Snapshot, query: FullTextQuery): StateCondition => ({
  current: sql`i.id = any((
    select tocsin_find_words(${snapshot.poolIds}::uuid[], ${toTsquery(query)}) || array(${idsWithIndicator(snapshot, query)}))::uuid[])`,
  past: hadFullText(query),
});

export const hadFullText = (query: FullTextQuery): Condition =>
  sql`s.words @@ ${toTsquery(query)} or ${hadTerm(indicatorTerm(query))}`;

/** Ids of the items that have the single word of the query as an indicator, as a query. */
export const idsWithIndicator = (snapshot: Snapshot, query: FullTextQuery): Sql =>
  idsWithTerm(snapshot, indicatorTerm(query));

const indicatorTerm = ({ indicatorForms }: FullTextQuery): TermFilter => ({
  kind: 'indicator',
  values: indicatorForms,
});

export const toTsquery = ({ text }: FullTextQuery): Sql => sql`tocsin_text_query(${text})`;

/** The same as `hasFullText`, for a query that reads few rows: it compares the words of each row instead of collecting all matches. */
export const matchesText = (snapshot: Snapshot, query: FullTextQuery): StateCondition => ({
  current: sql`${searchTextMatches(query)} or i.id in (${idsWithIndicator(snapshot, query)})`,
  past: hadFullText(query),
});

/** A subquery, so that the search text is read only for the rows that the other conditions leave. */
export const searchTextMatches = (query: FullTextQuery): Condition =>
  sql`coalesce((select w.words @@ ${toTsquery(query)} from item_search w where w.item_id = i.id), false)`;
