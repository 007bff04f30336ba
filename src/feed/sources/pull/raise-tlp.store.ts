import { sql } from 'kysely';
import { rows, type Tx } from '../../../platform/db/db.ts';
import { tlps, type Tlp } from '../../model/vocabulary.ts';
import type { HeldItem } from '../../ingestion/pull-plan.ts';
import type { SourceRow } from '../source-row.ts';

export type LooseItem = HeldItem & { is_latest: boolean; held_back_doc: string | null };

/** Items of a source with a looser marking than this one, after an id. What is empty already has nothing to hide. */
export function listLooseItems(
  tx: Tx,
  source: SourceRow,
  { tlp, after, limit }: { tlp: Tlp; after: string; limit: number },
): Promise<LooseItem[]> {
  const looser = tlps.slice(0, tlps.indexOf(tlp));
  return rows(
    tx,
    sql<LooseItem>`
      select i.id, i.record_id, i.generation, i.status, i.version, i.content_hash, i.record_hash, i.record_modified_at, i.missing_pulls, i.pool_id,
        i.severity, i.publisher, i.source_name, i.platforms, i.created_at, i.added_to_feed_at, i.held_back is not null as held_back,
        i.held_back as held_back_doc,
        not exists (select from items n where n.source_id = i.source_id and n.record_id = i.record_id and n.generation > i.generation) as is_latest
      from items i join item_versions v on v.item_id = i.id and v.version = i.version
      where i.organization_id = ${source.organization_id} and i.source_id = ${source.id} and i.id > ${after}
        and i.doc::json #>> '{source,tlp}' = any(${looser}::text[]) and not (i.status = 'retracted' and v.cause = 'moved')
      order by i.id limit ${limit}`,
  );
}

/** What a person may bring back: under the stricter marking, and where the item goes on. */
export async function moveHeldBack(tx: Tx, moves: { from: string; to: string; doc: string }[]): Promise<void> {
  const column = (name: 'from' | 'to' | 'doc'): string[] => moves.map((move) => move[name]);
  await sql`update items set held_back = null where id = any(${column('from')}::uuid[])`.execute(tx);
  await sql`
    update items i set held_back = n.doc from unnest(${column('to')}::uuid[], ${column('doc')}::text[]) as n (id, doc) where i.id = n.id`.execute(
    tx,
  );
}

/** The items that go on where these were emptied. */
export function listSuccessors(tx: Tx, ids: string[]): Promise<{ follows: string; doc: string }[]> {
  return rows(
    tx,
    sql<{ follows: string; doc: string }>`
      select old.id as follows, n.doc from items old join items n on n.source_id = old.source_id and n.record_id = old.record_id
        and n.generation = old.generation + 1 and n.related @> array[old.id]
      where old.id = any(${ids}::uuid[]) and n.status = 'retracted'`,
  );
}
