import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';

/** An item of a group. `own_doc` is the document without the figures of the group, if that differs from `doc`. */
export type GroupedItemRow = {
  id: string;
  pool_id: string;
  /** The kind of the item's source; null for a posted text. */
  kind: string | null;
  doc: string;
  own_doc: string | null;
  duplicate_of: string | null;
  severity: string;
  status: string;
  publisher: string;
  source_name: string;
  platforms: string[];
  version: number;
  last_updated: Date;
};

export function listGroupedItemRows(tx: Tx, ids: string[]): Promise<GroupedItemRow[]> {
  return queryRows(
    tx,
    sql<GroupedItemRow>`
      select i.id, i.pool_id, s.kind, i.doc, i.own_doc, i.duplicate_of, i.severity, i.status, i.publisher, i.source_name, i.platforms, i.version,
        i.last_updated
      from items i left join feed_sources s on s.id = i.source_id where i.id = any(${ids}::uuid[])`,
  );
}
