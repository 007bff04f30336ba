import { sql } from 'kysely';
import type { ItemFilters } from '../item-filters.ts';
import { columnConditions, isListed, ownRows, unsaid } from './snapshot-rows.sql.ts';
import { isNarrowedByOwn, ownConditions } from '../overrides/overrides.sql.ts';
import type { View } from './snapshot.ts';

type Sql = ReturnType<typeof sql>;

/**
 * `(id, added_to_feed_at, seq_from)` of the roots of a view that a list by source holds for the sake of a duplicate alone, as a query.
 * `said_rows` must stand beside it where the organization's own word narrows the list.
 */
export function rowsThroughDuplicates(view: View, filters: ItemFilters): Sql {
  const { own, sources, ...ofRoot } = filters;
  const isSaid = own !== undefined && isNarrowedByOwn(filters);
  const isOfSource = columnConditions(sources ? { sources } : {});
  return sql`
    with member as materialized (
      select duplicate_of as root from (${seenRows(view, isSaid)}) seen where duplicate_of is not null ${isOfSource}
    )
    select id, added_to_feed_at, seq_from from (${seenRows(view, isSaid, sql`select root from member`)}) seen
    where not (true ${isOfSource}) ${columnConditions(ofRoot)} ${ownConditions(ofRoot, sql`id`)}`;
}

/** The rows of a view as the organization sees them; of `ids`, a query, where it is given. */
function seenRows(view: View, isSaid: boolean, ids?: Sql): Sql {
  const { now, past } = isListed(view);
  const columns = sql`added_to_feed_at, severity, status, duplicate_of, publisher, source_name, platforms`;
  const isOneOf = (id: Sql): Sql => (ids ? sql`and ${id} in (${ids})` : sql``);
  // As an array the ids lead to their rows, however many there are.
  const leads = ids ? sql`and i.id = any(array(${ids}))` : sql``;
  return sql`
    select i.id, null::bigint as seq_from, ${columns} from items i where ${now} ${leads} ${unsaid(isSaid, sql`i.id`)}
    union all
    select s.item_id, s.seq_from, ${columns} from item_states s where ${past} ${isOneOf(sql`s.item_id`)} ${unsaid(isSaid, sql`s.item_id`)}
    ${isSaid ? sql`union all select id, seq_from, ${columns} from ${ownRows} where true ${isOneOf(sql`id`)}` : sql``}`;
}
