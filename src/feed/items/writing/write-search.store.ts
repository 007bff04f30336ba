import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';

export type SearchText = { id: string; organizationId: string; poolId: string; searchHead: string; storedText: string };

/** Replaces the search text of items. */
export async function writeSearchText(tx: Tx, items: SearchText[]): Promise<void> {
  const column = (name: keyof SearchText): string[] => items.map((item) => item[name]);
  await sql`
    insert into item_search (organization_id, item_id, pool_id, words)
    select n.organization_id, n.item_id, n.pool_id, tocsin_words(n.head, n.body)
    from unnest(${column('organizationId')}::uuid[], ${column('id')}::uuid[], ${column('poolId')}::uuid[],
      ${column('searchHead')}::text[], ${column('storedText')}::text[]) as n (organization_id, item_id, pool_id, head, body)
    on conflict (item_id) do update set words = excluded.words where item_search.words is distinct from excluded.words`.execute(
    tx,
  );
}

/** Erases the content of the previous states of items that their audience may no longer see. Their list positions remain until retention deletes them. */
export async function eraseStateContent(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await sql`
      update item_states s set title = i.title, publish_time = null, doc = i.doc, next_expiry_at = null, terms = '{}', words = null
      from items i where i.id = s.item_id and i.id = any(${ids}::uuid[])`.execute(tx);
}
