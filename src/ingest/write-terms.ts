import { sql } from 'kysely';
import type { Tx } from '../db/db.ts';
import type { Term } from '../feed/terms.ts';

export type ItemTerms = { id: string; organizationId: string; poolId: string; version: number; terms: Term[] };

const rowsMax = 5_000;

/** Makes the terms of items what they are now: what is no longer among them goes, what is there already stays untouched. */
export async function writeTerms(tx: Tx, items: ItemTerms[]): Promise<void> {
  const changed = items.filter(({ version }) => version > 1);
  if (changed.length > 0) await deleteOldTerms(tx, changed);
  const all = items.flatMap(({ terms, ...item }) => terms.map((term) => ({ ...item, ...term })));
  for (let start = 0; start < all.length; start += rowsMax) {
    const batch = all.slice(start, start + rowsMax);
    const column = (name: 'organizationId' | 'id' | 'poolId' | 'kind' | 'value'): string[] =>
      batch.map((row) => row[name]);
    await sql`
      insert into item_terms (organization_id, item_id, pool_id, kind, value)
      select * from unnest(${column('organizationId')}::uuid[], ${column('id')}::uuid[], ${column('poolId')}::uuid[],
        ${column('kind')}::text[], ${column('value')}::text[])
      on conflict do nothing`.execute(tx);
  }
}

async function deleteOldTerms(tx: Tx, items: ItemTerms[]): Promise<void> {
  const kept = items.flatMap(({ id, terms }) => terms.map((term) => ({ id, ...term })));
  const column = (name: 'id' | 'kind' | 'value'): string[] => kept.map((row) => row[name]);
  await sql`
    delete from item_terms t where t.item_id = any(${items.map(({ id }) => id)}::uuid[])
      and not exists (select from unnest(${column('id')}::uuid[], ${column('kind')}::text[], ${column('value')}::text[]) as n (item_id, kind, value)
        where n.item_id = t.item_id and n.kind = t.kind and n.value = t.value)`.execute(tx);
}
