import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { SourceKind } from '../../formats/registry.ts';
import {
  currentVersionColumns,
  storedItemColumns,
  type CurrentVersionRow,
  type StoredItem,
} from '../stored-items.store.ts';

/** An item with its current version. */
export type StaleItem = StoredItem &
  CurrentVersionRow & {
    organization_id: string;
    source_id: string | null;
    kind: SourceKind | null;
    canonical_key: string;
  };

const columns = sql`${storedItemColumns}, ${currentVersionColumns}, i.organization_id, i.source_id, s.kind, i.canonical_key`;
const from = sql`items i join item_versions v on v.item_id = i.id and v.version = i.version left join feed_sources s on s.id = i.source_id`;

/** Returns items that an older reader version produced, in the order of the index: after an upgrade, all items may have the same version. */
export function listStaleItems(tx: Tx, readerVersion: number, limit: number): Promise<StaleItem[]> {
  const query = sql<StaleItem>`select ${columns} from ${from} where i.reading < ${readerVersion} order by i.reading limit ${limit}`;
  return queryRows(tx, query);
}

/** Returns the item if it is still stale and its version has not changed. Call it once the item's pool is locked. */
export function findStaleItem(tx: Tx, item: StaleItem, readerVersion: number): Promise<StaleItem | undefined> {
  const query = sql<StaleItem>`select ${columns} from ${from} where i.id = ${item.id} and i.version = ${item.version} and i.reading < ${readerVersion}`;
  return queryRow(tx, query);
}
