import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { ItemCountRow } from '../items.store.ts';
import { allOf, type Sql } from '../list-query/query.sql.ts';
import { isInSnapshot } from '../list-query/snapshot-rows.sql.ts';
import { overridesAt } from '../overrides/overrides.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hasFullText } from './search-conditions.sql.ts';
import type { FullTextQuery } from './search-query.ts';
import { withSearchLimits } from './search.store.ts';

/** Like `readItemCounts`, but counts only the items that match a full-text query. The cost grows with the matches. */
export function readMatchCounts(
  tx: Tx,
  snapshot: Snapshot,
  { query, overridesSeq }: { query: FullTextQuery; overridesSeq: number | undefined },
): Promise<ItemCountRow[]> {
  const [inSnapshot, matches] = [isInSnapshot(snapshot), hasFullText(snapshot, query)];
  const columns = sql`severity, status, platforms, publisher, source_name`;
  const found = sql`
    select i.id, ${columns} from items i where ${allOf([inSnapshot.current, matches.current])}
    union all
    select s.item_id, ${columns} from item_states s where ${allOf([inSnapshot.past, matches.past])}`;
  const seen: Sql =
    overridesSeq === undefined
      ? found
      : sql`
        select coalesce(o.severity, found.severity) as severity, coalesce(o.status, found.status) as status, platforms, publisher, source_name
        from (${found}) found left join ${overridesAt(overridesSeq)} o on o.item_id = found.id`;
  return withSearchLimits(
    tx,
    () => queryRows<ItemCountRow>(tx)`
      select severity, status, array_to_string(platforms, ',') as platforms, publisher, source_name, count(*) as n
      from (${seen}) seen group by severity, status, platforms, publisher, source_name`,
  );
}
