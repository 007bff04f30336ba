import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { toAppliedOverride, type AppliedOverrideRow } from '../items/overrides/override-rows.store.ts';
import type { DatedOverride } from './dated-override.ts';

/** Returns every override that the organization ever set for these items, by item id, oldest first. The last one is in force. */
export async function listOverrideHistory(tx: Tx, itemIds: string[]): Promise<Map<string, DatedOverride[]>> {
  const found = await queryRows(
    tx,
    sql<AppliedOverrideRow & { item_id: string; at: Date }>`
      select item_id, at, severity, status, indicators from feed_marks
      where organization_id = tocsin_org() and item_id = any(${itemIds}::uuid[]) order by at`,
  );
  const rowsByItem = Map.groupBy(found, ({ item_id }) => item_id);
  return new Map(
    [...rowsByItem].map(([id, rows]) => [id, rows.map((row) => ({ at: row.at, ...toAppliedOverride(row) }))]),
  );
}
