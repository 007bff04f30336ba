import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import type { Settling } from './recompute-groups.ts';

export type ItemRow = {
  id: string;
  pool_id: string;
  /** Of its source; null for a text that was posted. */
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

export function listRows(tx: Tx, ids: string[]): Promise<ItemRow[]> {
  return rows(
    tx,
    sql<ItemRow>`
      select i.id, i.pool_id, s.kind, i.doc, i.own_doc, i.duplicate_of, i.severity, i.status, i.publisher, i.source_name, i.platforms, i.version,
        i.last_updated
      from items i left join feed_sources s on s.id = i.source_id where i.id = any(${ids}::uuid[])`,
  );
}

/** An item as it stands in its group. A version is written where its content changed. */
export type Settled = {
  id: string;
  row: ItemRow;
  doc: string;
  ownDoc: string | null;
  duplicateOf: string | null;
  severity: string;
  version: number;
  changed: string[];
};

export async function writeSettled(tx: Tx, { at, seq }: Settling, settled: Settled[]): Promise<void> {
  const column = <K extends keyof Settled>(name: K): Settled[K][] => settled.map((item) => item[name]);
  const changed = settled.map((item) => item.changed.join(','));
  // The version that this transaction wrote already, or a further one with the text of the one before.
  await sql`
    with n as (
      select * from unnest(${column('id')}::uuid[], ${column('version')}::int[], ${changed}::text[], ${column('doc')}::text[])
        as n (id, version, changed, doc)
    ), same as (
      update item_versions v set doc = n.doc from n where v.item_id = n.id and v.version = n.version
    )
    insert into item_versions (organization_id, item_id, pool_id, version, cause, changed, stored_text, doc, at)
    select v.organization_id, v.item_id, v.pool_id, n.version, 'group', string_to_array(n.changed, ','), v.stored_text, n.doc, ${at}
    from n join items i on i.id = n.id and i.version < n.version join item_versions v on v.item_id = i.id and v.version = i.version`.execute(
    tx,
  );
  await sql`
    update items i set doc = n.doc, own_doc = n.own_doc, duplicate_of = n.duplicate_of, severity = n.severity, version = n.version,
      seq = ${seq}, last_updated = ${at}
    from unnest(${column('id')}::uuid[], ${column('doc')}::text[], ${column('ownDoc')}::text[], ${column('duplicateOf')}::uuid[],
      ${column('severity')}::text[], ${column('version')}::int[]) as n (id, doc, own_doc, duplicate_of, severity, version)
    where i.id = n.id`.execute(tx);
}
