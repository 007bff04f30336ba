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
export const hadTerm = ({ kind, values }: TermFilter): Condition =>
  sql`s.terms && ${values.map((value) => `${kind} ${value}`)}::text[]`;

/**
 * Matches the text, or its single word as an indicator: an item with very many indicators does not have them all in its search text.
 */
export const hasFullText = (snapshot: Snapshot, query: FullTextQuery): StateCondition => ({
  current: sql`i.id = any((
    select tocsin_find_words(${snapshot.poolIds}::uuid[], ${toTsquery(query)}) || array(${idsWithIndicator(snapshot, query)}))::uuid[])`,
  past: hadFullText(query),
});

/** Like `hasFullText`, but in a sample of one in `oneIn` items, and without items that only have the word as an indicator. */
export const hasSampledText = (snapshot: Snapshot, query: FullTextQuery, oneIn: number): StateCondition => ({
  current: sql`i.id = any((select tocsin_sample_words(${snapshot.poolIds}::uuid[], ${toTsquery(query)}, ${oneIn}))::uuid[])`,
  past: sql`uuid_hash(s.item_id) & ${oneIn - 1}::int = 0 and (${hadFullText(query)})`,
});

export const hadFullText = (query: FullTextQuery): Condition =>
  sql`(s.words @@ ${toTsquery(query)} or ${hadTerm(indicatorTerm(query))})`;

const idsWithIndicator = (snapshot: Snapshot, query: FullTextQuery): Sql => idsWithTerm(snapshot, indicatorTerm(query));

const indicatorTerm = ({ indicatorForms }: FullTextQuery): TermFilter => ({
  kind: 'indicator',
  values: indicatorForms,
});

export const toTsquery = ({ text }: FullTextQuery): Sql => sql`tocsin_text_query(${text})`;

/** Like the current condition of `hasFullText`, but for few rows: compares the words of an item instead of collecting all matches. */
export const itemMatchesText = (snapshot: Snapshot, query: FullTextQuery, id: Sql): Condition =>
  sql`${searchTextMatches(query, id)} or ${id} in (${idsWithIndicator(snapshot, query)})`;

/** A subquery, so that the search text is read only for the rows that the other conditions leave. */
export const searchTextMatches = (query: FullTextQuery, id: Sql): Condition =>
  sql`coalesce((select w.words @@ ${toTsquery(query)} from item_search w where w.item_id = ${id}), false)`;

/** Like the current condition of `hasTerm`, but for few rows. Avoids `exists`, for which the planner may read the terms of all items. */
export const itemHasTerm = ({ kind, values }: TermFilter, id: Sql): Condition => sql`
  coalesce((select true from item_terms t where t.item_id = ${id} and t.kind = ${kind} and t.value = any(${values}::text[]) limit 1), false)`;
