import { queryRows, type Tx } from '../../../../platform/db/db.ts';
import type { SourceRow } from '../../../ingestion/source-row.ts';
import { storedItemColumns, type StoredItem } from '../../../ingestion/stored-items.store.ts';
import { tlps, type Tlp } from '../../../model/vocabulary.ts';

export type LooselyMarkedItem = StoredItem & { is_latest: boolean; held_back_doc: string | null };

/** Returns items of a source with a looser marking than `tlp`, in the order of their ids, after an id. Skips items that are already erased. */
export function listLooselyMarkedItems(
  tx: Tx,
  source: SourceRow,
  { tlp, afterId, limit }: { tlp: Tlp; afterId: string; limit: number },
): Promise<LooselyMarkedItem[]> {
  const looserTlps = tlps.slice(0, tlps.indexOf(tlp));
  return queryRows<LooselyMarkedItem>(tx)`
      select ${storedItemColumns}, i.held_back as held_back_doc,
        not exists (select from items n where n.source_id = i.source_id and n.record_id = i.record_id and n.generation > i.generation) as is_latest
      from items i join item_versions v on v.item_id = i.id and v.version = i.version
      where i.organization_id = ${source.organization_id} and i.source_id = ${source.id} and i.id > ${afterId}
        and i.doc::json #>> '{source,tlp}' = any(${looserTlps}::text[]) and not (i.status = 'retracted' and v.cause = 'moved')
      order by i.id limit ${limit}`;
}

/** Returns the retracted items that continue these erased items. */
export function listSuccessors(tx: Tx, ids: string[]): Promise<{ follows: string; doc: string }[]> {
  return queryRows<{ follows: string; doc: string }>(tx)`
      select old.id as follows, n.doc from items old join items n on n.source_id = old.source_id and n.record_id = old.record_id
        and n.generation = old.generation + 1 and n.related @> array[old.id]
      where old.id = any(${ids}::uuid[]) and n.status = 'retracted'`;
}
