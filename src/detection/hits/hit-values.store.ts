import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { RenderedRow } from '../analysis/candidate.ts';

/** Values of one hit that can be searched. A hit shows few rows, which rarely have more. */
const valuesMax = 500;

type HitContent = { id: string; entity: string; rows: readonly RenderedRow[] };

/** Returns the key of a value in `hit_values`, a UUID. Ignores case. */
export const toValueKey = (value: string): string => hash('md5', value.toLowerCase());

/** Replaces the values by which hits are found: the entity and every field of the rows. */
export async function replaceHitValues(tx: Tx, orgId: OrgId, hits: readonly HitContent[]): Promise<void> {
  if (hits.length === 0) return;
  const pairs = hits.flatMap(({ id, entity, rows }) => {
    const values = [entity, ...rows.flatMap(({ fields }) => Object.values(fields))].filter((value) => value !== '');
    const keys = new Set(values.map(toValueKey));
    return [...keys].slice(0, valuesMax).map((key) => ({ id, key }));
  });
  await sql`delete from hit_values where organization_id = ${orgId} and hit_id = any(${hits.map(({ id }) => id)}::uuid[])`.execute(
    tx,
  );
  await sql`
    insert into hit_values (organization_id, value_key, hit_id)
    select ${orgId}::uuid, value_key, hit_id from unnest(${pairs.map(({ key }) => key)}::uuid[], ${pairs.map(({ id }) => id)}::uuid[]) as v (value_key, hit_id)
    on conflict do nothing`.execute(tx);
}
