import { sql } from 'kysely';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import type { SourceKind } from '../../formats/registry.ts';

/** An item as it is stored, with the text of its current version. `doc` is without the figures of its group. */
export type StoredItem = {
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

/** Some items that were read by an older version of the program, or texts by older knowledge. */
export function listStale(tx: Tx, reading: number, limit: number): Promise<StoredItem[]> {
  return rows(
    tx,
    sql<StoredItem>`select ${columns} from ${from} where i.reading < ${reading} order by i.reading, i.pool_id limit ${limit}`,
  );
}

/** The item where it is still the version that was read, now that its pool is locked. */
export function findStale(tx: Tx, item: StoredItem, reading: number): Promise<StoredItem | undefined> {
  return row(
    tx,
    sql<StoredItem>`select ${columns} from ${from} where i.id = ${item.id} and i.version = ${item.version} and i.reading < ${reading}`,
  );
}

/** What an item is compared by, where the rest of it stays. */
export async function updateTraits(
  tx: Tx,
  id: string,
  traits: { sketch: string | null; identifying: number; reading: number },
): Promise<void> {
  await sql`
    update items set sketch = ${traits.sketch}, identifying = ${traits.identifying}, reading = ${traits.reading} where id = ${id}`.execute(
    tx,
  );
}
