import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { SourceKind } from '../../formats/registry.ts';

/** An item with the text of its current version. `doc` does not include the figures of its group. */
export type StaleItem = {
  id: string;
  organization_id: string;
  pool_id: string;
  source_id: string | null;
  kind: SourceKind | null;
  record_id: string;
  generation: number;
  canonical_key: string;
  version: number;
  content_hash: string;
  record_hash: string;
  record_modified_at: Date | null;
  severity: string;
  severity_rule: string;
  status: string;
  publisher: string;
  source_name: string;
  platforms: string[];
  missing_pulls: number;
  added_to_feed_at: Date;
  created_at: Date;
  doc: string;
  stored_text: string;
  aliases: string[];
};

const columns = sql`i.id, i.organization_id, i.pool_id, i.source_id, s.kind, i.record_id, i.generation, i.canonical_key, i.version, i.content_hash,
  i.record_hash, i.record_modified_at, i.severity, i.severity_rule, i.status, i.publisher, i.source_name, i.platforms, i.missing_pulls,
  i.added_to_feed_at, i.created_at, coalesce(i.own_doc, i.doc) as doc, v.stored_text,
  array(select t.value from item_terms t where t.item_id = i.id and t.kind = 'alias') as aliases`;
const from = sql`items i join item_versions v on v.item_id = i.id and v.version = i.version left join feed_sources s on s.id = i.source_id`;

/** Returns items that an older reader version produced. */
export function listStaleItems(tx: Tx, readerVersion: number, limit: number): Promise<StaleItem[]> {
  return queryRows(
    tx,
    sql<StaleItem>`select ${columns} from ${from} where i.reading < ${readerVersion} order by i.reading, i.pool_id limit ${limit}`,
  );
}

/** Returns the item if it is still stale and its version has not changed. Call it once the item's pool is locked. */
export function findStaleItem(tx: Tx, item: StaleItem, readerVersion: number): Promise<StaleItem | undefined> {
  return queryRow(
    tx,
    sql<StaleItem>`select ${columns} from ${from} where i.id = ${item.id} and i.version = ${item.version} and i.reading < ${readerVersion}`,
  );
}
