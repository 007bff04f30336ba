import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { ItemCountRow } from '../items.store.ts';
import { withCtes, type Sql } from '../snapshot/query.sql.ts';
import { withStateColumns } from '../snapshot/snapshot-rows.sql.ts';
import { overridesAt } from '../snapshot/override-rows.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hasSampledText } from './search-conditions.sql.ts';
import { searchCtes, type SearchOptions } from './search-ctes.sql.ts';
import { readSample, type Samples } from './search-estimate.ts';
import { withSearchLimits } from './search.store.ts';

const columns = ['severity', 'status', 'platforms', 'publisher', 'source_name'];

/** Like `readItemCounts`, but counts only the items that match a search. Those of a frequent text are estimated from a sample. */
export async function readMatchCounts(
  tx: Tx,
  snapshot: Snapshot,
  { samples, ...options }: SearchOptions & { samples?: Samples },
): Promise<{ rows: ItemCountRow[]; isEstimated: boolean }> {
  const { filters, search } = options;
  const query = search.fullText;
  const sample = query && (await readSample(tx, snapshot, query, samples));
  const ctes = searchCtes(snapshot, options, {
    ...(query && sample ? { text: hasSampledText(query, sample) } : {}),
    isByText: query !== undefined,
  });
  const found = withStateColumns(sql`found`, columns);
  const { overridesSeq } = filters;
  const seen: Sql =
    overridesSeq === undefined
      ? found
      : sql`
        select coalesce(o.severity, found.severity) as severity, coalesce(o.status, found.status) as status, platforms, publisher, source_name
        from (${found}) found left join ${overridesAt(overridesSeq)} o on o.item_id = found.id`;
  const counts = sql`
    select severity, status, array_to_string(platforms, ',') as platforms, publisher, source_name, count(*) * ${sample?.oneIn ?? 1}::int as n
    from (${seen}) seen group by severity, status, platforms, publisher, source_name`;
  const rows = await withSearchLimits(tx, () => queryRows<ItemCountRow>(tx)`${withCtes(ctes, counts)}`);
  return { rows, isEstimated: sample !== undefined };
}
