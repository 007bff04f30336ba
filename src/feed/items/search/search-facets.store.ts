import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { ItemCountRow } from '../items.store.ts';
import { allOf, type Sql } from '../list-query/query.sql.ts';
import { isInSnapshot } from '../list-query/snapshot-rows.sql.ts';
import { overridesAt } from '../overrides/overrides.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hasFullText, hasSampledText } from './search-conditions.sql.ts';
import { readSample, type Samples } from './search-estimate.ts';
import type { FullTextQuery } from './search-query.ts';
import { withSearchLimits } from './search.store.ts';

/** `isEstimated` if the items of a sample were counted, each for several. */
export type MatchCounts = { rows: ItemCountRow[]; isEstimated: boolean };

/** Like `readItemCounts`, but counts only the items that match a full-text query. Those of a frequent text are estimated from a sample. */
export async function readMatchCounts(
  tx: Tx,
  snapshot: Snapshot,
  { query, overridesSeq, samples }: { query: FullTextQuery; overridesSeq: number | undefined; samples?: Samples },
): Promise<MatchCounts> {
  const sample = await readSample(tx, snapshot, query, samples);
  const matches = sample ? hasSampledText(query, sample) : hasFullText(snapshot, query);
  const inSnapshot = isInSnapshot(snapshot);
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
  const rows = await withSearchLimits(
    tx,
    () => queryRows<ItemCountRow>(tx)`
      select severity, status, array_to_string(platforms, ',') as platforms, publisher, source_name, count(*) * ${sample?.oneIn ?? 1}::int as n
      from (${seen}) seen group by severity, status, platforms, publisher, source_name`,
  );
  return { rows, isEstimated: sample !== undefined };
}
