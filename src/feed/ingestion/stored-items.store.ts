import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { visiblePoolIds } from '../items/snapshot/query.sql.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { ItemStatus } from '../model/vocabulary.ts';
import type { SourceKey } from './source-row.ts';
import type { SourceKind } from '../formats/registry.ts';

/** An item of a source in the feed: the latest generation of its record. */
export type StoredItem = {
  id: string;
  record_id: string;
  generation: number;
  status: ItemStatus;
  version: number;
  content_hash: string;
  record_hash: string;
  record_modified_at: Date | null;
  missing_pulls: number;
  /** Whether a person retracted the item. The source does not change it until the person reverts the retraction. */
  held_back: boolean;
  pool_id: string;
  severity: string;
  publisher: string;
  source_name: string;
  platforms: string[];
  duplicate_of: string | null;
  created_at: Date;
  added_to_feed_at: Date;
};

/** Columns of a `StoredItem`, of a row `i` of items. */
export const storedItemColumns = sql`i.id, i.record_id, i.generation, i.status, i.version, i.content_hash, i.record_hash, i.record_modified_at,
  i.missing_pulls, i.pool_id, i.severity, i.publisher, i.source_name, i.platforms, i.duplicate_of, i.created_at, i.added_to_feed_at,
  i.held_back is not null as held_back`;

/** Returns the latest generation of every record of a source. */
export function listStoredItems(tx: Tx, source: SourceKey): Promise<StoredItem[]> {
  return queryRows<StoredItem>(tx)`
      select distinct on (i.record_id) ${storedItemColumns}
      from items i where i.organization_id = ${source.organization_id} and i.source_id = ${source.id} order by i.record_id, i.generation desc`;
}

/** Returns the latest generation of these records of a source. */
export function listStoredRecords(tx: Tx, source: SourceKey, recordIds: string[]): Promise<StoredItem[]> {
  return queryRows<StoredItem>(tx)`
      select distinct on (i.record_id) ${storedItemColumns}
      from items i where i.organization_id = ${source.organization_id} and i.source_id = ${source.id} and i.record_id = any(${recordIds})
      order by i.record_id, i.generation desc`;
}

/** The current version of an item. `doc` does not include the figures of its group. */
type CurrentVersionRow = {
  id: string;
  doc: string;
  stored_text: string;
  severity_rule: string;
  aliases: string[];
};

/** Columns of a `CurrentVersionRow`, of a row `i` of items and the row `v` of its current version. */
const currentVersionColumns = sql`i.id, coalesce(i.own_doc, i.doc) as doc, v.stored_text, i.severity_rule,
  array(select t.value from item_terms t where t.item_id = i.id and t.kind = 'alias') as aliases`;

export function listCurrentVersions(
  tx: Tx,
  source: Pick<SourceKey, 'organization_id'>,
  ids: string[],
): Promise<(CurrentVersionRow & { objects: string | null })[]> {
  return queryRows<CurrentVersionRow & { objects: string | null }>(tx)`
      select ${currentVersionColumns}, v.objects from items i join item_versions v on v.item_id = i.id and v.version = i.version
      where i.organization_id = ${source.organization_id} and i.id = any(${ids}::uuid[])`;
}

/** Returns the id of the item that the organization created from a posted text. */
export async function findPostedItem(tx: Tx, orgId: OrgId, recordId: string): Promise<string | undefined> {
  const found = await queryRow<{ id: string }>(tx)`
      select id from items where organization_id = ${orgId} and source_id is null and record_id = ${recordId} order by generation desc limit 1`;
  return found?.id;
}

export async function readOrgName(tx: Tx, orgId: OrgId): Promise<string> {
  return (await queryRow<{ name: string }>(tx)`select name from organizations where id = ${orgId}`)!.name;
}

/** An item with its current version. */
export type StaleItem = StoredItem &
  CurrentVersionRow & {
    organization_id: string;
    source_id: string | null;
    kind: SourceKind | null;
    canonical_key: string;
  };

const staleColumns = sql`${storedItemColumns}, ${currentVersionColumns}, i.organization_id, i.source_id, s.kind, i.canonical_key`;

const staleRows = sql`items i join item_versions v on v.item_id = i.id and v.version = i.version left join feed_sources s on s.id = i.source_id`;

/** Returns items that an older reader version produced, in the order of the index: after an upgrade, all items may have the same version. */
export function listStaleItems(tx: Tx, readerVersion: number, limit: number): Promise<StaleItem[]> {
  const query = sql<StaleItem>`select ${staleColumns} from ${staleRows} where i.reading < ${readerVersion} order by i.reading limit ${limit}`;
  return queryRows(tx, query);
}

/** Returns the item if it is still stale and its version has not changed. Call it once the item's pool is locked. */
export function findStaleItem(tx: Tx, item: StaleItem, readerVersion: number): Promise<StaleItem | undefined> {
  const query = sql<StaleItem>`select ${staleColumns} from ${staleRows} where i.id = ${item.id} and i.version = ${item.version} and i.reading < ${readerVersion}`;
  return queryRow(tx, query);
}

/** Returns an item with its current version, for whatever writes it again. */
export function findItemToRewrite(tx: Tx, id: string): Promise<StaleItem | undefined> {
  return queryRow(tx, sql<StaleItem>`select ${staleColumns} from ${staleRows} where i.id = ${id}`);
}

/** Returns an item that the organization sees, with its current version. */
export function findVisibleItem(tx: Tx, id: string): Promise<StaleItem | undefined> {
  const query = sql<StaleItem>`select ${staleColumns} from ${staleRows} where i.id = ${id} and i.pool_id in ${visiblePoolIds}`;
  return queryRow(tx, query);
}
