import { sql } from 'kysely';
import { overridesAt } from '../overrides/overrides.sql.ts';
import { materialized, type Condition, type Cte, type Sql } from './query.sql.ts';
import { isInSnapshot } from './snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * The CTE `overridden_rows`: the snapshot's rows whose severity, status or root the organization overrides. These are few. The shared columns
 * keep their values, and the columns that begin with `own_` have the organization's.
 */
export function overriddenRowsCte(snapshot: Snapshot, overridesSeq: number): Cte {
  const { current, past } = isInSnapshot(snapshot);
  const overrides = sql`(
    select * from ${overridesAt(overridesSeq)} o where o.severity is not null or o.status is not null or o.moved)`;
  const ids = sql`any(array(select item_id from ${overrides} o))`;
  return materialized(
    'overridden_rows',
    sql`
      select row.*, coalesce(o.severity, row.severity) as own_severity, coalesce(o.status, row.status) as own_status,
        case when o.moved then o.duplicate_of else row.duplicate_of end as own_duplicate_of
      from ${overrides} o join (
        select i.id, added_to_feed_at, null::bigint as seq_from, severity, status, duplicate_of, publisher, source_name, platforms
          from items i where (${current}) and i.id = ${ids}
        union all
        select s.item_id, added_to_feed_at, seq_from, severity, status, duplicate_of, publisher, source_name, platforms
          from item_states s where (${past}) and s.item_id = ${ids}
      ) row on row.id = o.item_id`,
  );
}

/** `overridden_rows` with the organization's values in the shared columns, as a table. */
export const overriddenRowsAsSeen: Sql = sql`(
  select id, added_to_feed_at, seq_from, own_severity as severity, own_status as status, own_duplicate_of as duplicate_of, publisher,
    source_name, platforms from overridden_rows) as_seen`;

/** Leaves out the items of `overridden_rows`. */
export const isNotOverridden = (id: Sql): Condition => sql`${id} not in (select id from overridden_rows)`;
