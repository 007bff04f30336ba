import { sql } from 'kysely';
import type { ItemFilters } from '../item-filters.ts';

type Sql = ReturnType<typeof sql>;

const columns = sql`item_id, severity, status, moved, duplicate_of, relevance, exposed_at, updated_at`;

/** What the organization of the transaction said of items when its own pool stood at `seq`, as a parenthesised query: few rows. */
export const saidAt = (seq: number): Sql => sql`(
  select ${columns} from feed_overrides where organization_id = tocsin_org() and seq <= ${seq}
  union all
  select ${columns} from feed_override_states where organization_id = tocsin_org() and seq <= ${seq} and seq_until > ${seq})`;

/** Ids of the items of which the organization said something that fulfils a condition on `said`. */
export const saidIds = (seq: number, condition: Sql): Sql =>
  sql`(select said.item_id from ${saidAt(seq)} said where ${condition})`;

/** Whether what an organization says of an item decides if it is in the list. */
export const isNarrowedByOwn = ({ severity, status, rootsOnly = false }: ItemFilters): boolean =>
  rootsOnly || severity !== undefined || status !== undefined;

/** Of `said`: something by which a list is narrowed. */
export const isNarrowing: Sql = sql`(said.severity is not null or said.status is not null or said.moved)`;

/**
 * Conditions on the columns that an organization may override, for a row of an item with this id; each begins with `and`. Its own word counts
 * where it says one. In a `case`, so that the few rows are looked up in memory and the list stays one scan.
 */
export function ownConditions({ own, severity, status, rootsOnly }: ItemFilters, id: Sql): Sql {
  const is = (name: 'severity' | 'status', wanted: string | undefined): Sql => {
    if (wanted === undefined) return sql``;
    const shared = sql`${sql.ref(name)} = ${wanted}`;
    const said = sql`said.${sql.ref(name)}`;
    return own === undefined
      ? sql`and ${shared}`
      : sql`and case when ${id} in ${saidIds(own, sql`${said} is not null`)} then ${id} in ${saidIds(own, sql`${said} = ${wanted}`)} else ${shared} end`;
  };
  return sql`${is('severity', severity)} ${is('status', status)} ${rootsOnly ? isRoot(own, id) : sql``}`;
}

function isRoot(own: number | undefined, id: Sql): Sql {
  if (own === undefined) return sql`and duplicate_of is null`;
  return sql`and case when ${id} in ${saidIds(own, sql`said.moved`)}
    then ${id} in ${saidIds(own, sql`said.moved and said.duplicate_of is null`)} else duplicate_of is null end`;
}
