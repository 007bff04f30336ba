import { sql } from 'kysely';
import type { Search, TermFilter } from '../search/search-query.ts';
import type { View } from './snapshot.ts';

type Sql = ReturnType<typeof sql>;

/** A condition on a row of `items i` and the same on one of `item_states s`; each begins with `and`, or is empty. */
export type Condition = { now: Sql; past: Sql };

export const both = (condition: Sql): Condition => ({ now: condition, past: condition });
export const byId = (condition: (id: Sql) => Sql): Condition => ({
  now: condition(sql`i.id`),
  past: condition(sql`s.item_id`),
});
export const all = (conditions: Condition[]): Condition => ({
  now: sql.join(
    conditions.map(({ now }) => now),
    sql` `,
  ),
  past: sql.join(
    conditions.map(({ past }) => past),
    sql` `,
  ),
});

/** As an array the ids lead to their rows, however many there are; as a query they would be joined with all rows. */
const isAmong = (ids: Sql): Sql => sql`and i.id = any(array(${ids}))`;
export const isOneOf = (ids: Sql): Condition => ({ now: isAmong(ids), past: sql`and s.item_id in (${ids})` });

export const withTerm = (view: View, { kind, values }: TermFilter): Sql => sql`
  select item_id from item_terms t where t.kind = ${kind} and t.value = any(${values}::text[]) and t.pool_id = any(${view.poolIds}::uuid[])`;
const hadTerm = ({ kind, values }: TermFilter): Sql =>
  sql`s.terms && ${values.map((value) => `${kind} ${value}`)}::text[]`;

export const hasTerm = (view: View, term: TermFilter): Condition => ({
  now: isAmong(withTerm(view, term)),
  past: sql`and ${hadTerm(term)}`,
});

export type Words = NonNullable<Search['words']>;

export const queryOf = ({ text }: Words): Sql => sql`websearch_to_tsquery('simple', ${text})`;
export const formsOf = ({ forms }: Words): TermFilter => ({ kind: 'indicator', values: forms });

/** Full text, or the one word as an indicator, of which the text may hold too many to have them all among its words. */
export const hasWords = (view: View, words: Words): Condition => ({
  now: sql`and i.id = any((
    select tocsin_find_words(${view.poolIds}::uuid[], ${queryOf(words)}) || array(${withTerm(view, formsOf(words))}))::uuid[])`,
  past: hadWords(words),
});
export const hadWords = (words: Words): Sql => sql`and (s.words @@ ${queryOf(words)} or ${hadTerm(formsOf(words))})`;
