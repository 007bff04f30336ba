import { sql } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import type { Term } from '../feed/terms.ts';

export type ItemTerms = { id: string; organizationId: string; poolId: string; version: number; terms: Term[] };

export type GoneTerm = { kind: string; value: string };

const rowsMax = 5_000;

/**
 * Makes the terms of items what they are now: what is no longer among them goes and is answered, what is there already stays untouched.
 */
export async function writeTerms(tx: Tx, items: ItemTerms[]): Promise<GoneTerm[]> {
  const changed = items.filter(({ version }) => version > 1);
  const gone = changed.length > 0 ? await deleteOldTerms(tx, changed) : [];
  const all = items.flatMap(({ id, organizationId, poolId, terms }) =>
    terms.map(({ kind, value, identifying = false }) => ({ id, organizationId, poolId, kind, value, identifying })),
  );
  for (let start = 0; start < all.length; start += rowsMax) {
    const batch = all.slice(start, start + rowsMax);
    const column = (name: 'organizationId' | 'id' | 'poolId' | 'kind' | 'value'): string[] =>
      batch.map((row) => row[name]);
    await sql`
      insert into item_terms (organization_id, item_id, pool_id, kind, value, identifying)
      select * from unnest(${column('organizationId')}::uuid[], ${column('id')}::uuid[], ${column('poolId')}::uuid[],
        ${column('kind')}::text[], ${column('value')}::text[], ${batch.map(({ identifying }) => identifying)}::boolean[])
      on conflict (item_id, kind, value) do update set identifying = excluded.identifying
        where item_terms.identifying <> excluded.identifying`.execute(tx);
  }
  return gone;
}

function deleteOldTerms(tx: Tx, items: ItemTerms[]): Promise<GoneTerm[]> {
  const kept = items.flatMap(({ id, terms }) => terms.map((term) => ({ id, ...term })));
  const column = (name: 'id' | 'kind' | 'value'): string[] => kept.map((row) => row[name]);
  return rows(
    tx,
    sql<GoneTerm>`
    delete from item_terms t where t.item_id = any(${items.map(({ id }) => id)}::uuid[])
      and not exists (select from unnest(${column('id')}::uuid[], ${column('kind')}::text[], ${column('value')}::text[]) as n (item_id, kind, value)
        where n.item_id = t.item_id and n.kind = t.kind and n.value = t.value)
    returning t.kind, t.value`,
  );
}
