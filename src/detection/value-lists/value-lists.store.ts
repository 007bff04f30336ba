import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import { replaceValue } from '../../platform/db/erasure.store.ts';
import type { Author } from '../../platform/http/caller.ts';
import { entityLists } from '../entities/entities.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

type ValueListSummaryRow = {
  name: string;
  description: string;
  valuesTotal: number;
  usedBy: string[];
  keyId: string | null;
  actor: string | null;
  updatedAt: Date;
};
export type ValueListRow = ValueListSummaryRow & { values: string[] };

/** Detections, and suggestions, that are neither deleted nor dismissed. */
const usedBy = sql`array(select a.id::text from agents a where a.organization_id = l.organization_id and a.deleted_at is null
  and a.tuning is not null and coalesce(a.tuning::jsonb -> 'allowLists', '[]') ? l.name order by a.id)`;
const summary = sql`l.name, l.description, jsonb_array_length(l.list_values::jsonb) as "valuesTotal", ${usedBy} as "usedBy",
  l.key_id as "keyId", l.actor, l.updated_at as "updatedAt"`;

/** Lists the value lists by name, without their values. */
export function listValueLists(tx: Tx, orgId: OrgId): Promise<ValueListSummaryRow[]> {
  return queryRows<ValueListSummaryRow>(
    tx,
  )`select ${summary} from value_lists l where organization_id = ${orgId} order by name collate "C"`;
}

export async function findValueList(tx: Tx, orgId: OrgId, name: string): Promise<ValueListRow | undefined> {
  const row = await queryRow<ValueListSummaryRow & { listValues: string }>(
    tx,
  )`select ${summary}, l.list_values as "listValues" from value_lists l where organization_id = ${orgId} and name = ${name}`;
  if (!row) return undefined;
  const { listValues, ...rest } = row;
  return { ...rest, values: JSON.parse(listValues) as string[] };
}

export async function upsertValueList(
  tx: Tx,
  orgId: OrgId,
  list: Pick<ValueListRow, 'name' | 'description' | 'values' | 'keyId' | 'actor' | 'updatedAt'> & { id: string },
): Promise<void> {
  await sql`insert into value_lists (organization_id, id, name, description, list_values, key_id, actor, updated_at)
    values (${orgId}, ${list.id}, ${list.name}, ${list.description}, ${JSON.stringify(list.values)}, ${list.keyId},
      ${list.actor}, ${list.updatedAt})
    on conflict (organization_id, name) do update set description = excluded.description, list_values = excluded.list_values,
      key_id = excluded.key_id, actor = excluded.actor,
      updated_at = greatest(excluded.updated_at, value_lists.updated_at + interval '1 millisecond')`.execute(tx);
}

/** Serializes changes of the lists of an organization until the transaction ends, also of those that do not exist yet. */
export const lockValueLists = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `value lists ${orgId}`);

export async function deleteValueList(tx: Tx, orgId: OrgId, name: string): Promise<void> {
  await sql`delete from value_lists where organization_id = ${orgId} and name = ${name}`.execute(tx);
}

/** Returns the values of the lists that exist. */
export async function readValueLists(tx: Tx, orgId: OrgId, names: readonly string[]): Promise<Map<string, string[]>> {
  if (names.length === 0) return new Map();
  const rows = await queryRows<{ name: string; listValues: string }>(
    tx,
  )`select name, list_values as "listValues" from value_lists where organization_id = ${orgId} and name = any(${names}::text[])`;
  return new Map(rows.map(({ name, listValues }) => [name, JSON.parse(listValues) as string[]]));
}

const likeMax = 5_000;

/** Returns the entries of all lists, but those that say which names are one entity, that equal one of the values in any case, and those that are patterns or networks. */
export function listEntriesLike(
  tx: Tx,
  orgId: OrgId,
  values: readonly string[],
): Promise<{ list: string; entry: string }[]> {
  const lower = values.map((value) => value.toLowerCase());
  return queryRows<{ list: string; entry: string }>(tx)`
      select l.name as list, v.entry from value_lists l cross join lateral jsonb_array_elements_text(l.list_values::jsonb) v (entry)
      where l.organization_id = ${orgId} and l.name <> all(${entityLists}::text[]) and (lower(v.entry) = any(${lower}::text[]) or v.entry like '%*%' or v.entry like '%/%')
      order by lower(v.entry) = any(${lower}::text[]) desc, l.name, v.entry limit ${likeMax}`;
}

/** Returns the lists that contain a value as a whole, in any case, but those that say which names are one entity. Patterns and networks of a list are not compared. */
export function findListsWith(
  tx: Tx,
  orgId: OrgId,
  value: string,
): Promise<{ name: string; description: string; entry: string }[]> {
  return queryRows<{ name: string; description: string; entry: string }>(tx)`
      select l.name, l.description, v.entry from value_lists l
        cross join lateral jsonb_array_elements_text(l.list_values::jsonb) as v (entry)
      where l.organization_id = ${orgId} and l.name <> all(${entityLists}::text[]) and lower(v.entry) = lower(${value}) order by l.name collate "C"`;
}

/** Replaces a value in lists. Returns the number of lists. */
export function replaceInValueLists(tx: Tx, author: Author, value: string): Promise<number> {
  const columns = ['description', 'list_values'];
  return replaceValue(tx, { orgId: author.orgId, table: 'value_lists', columns, author }, value);
}
