import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import { replaceValue } from '../../platform/db/erasure.store.ts';
import type { Author } from '../../platform/http/caller.ts';
import { compileAllowList, type ListTest } from '../analysis/exceptions.ts';
import { entityLists } from '../entities/entities.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimInTurnAcrossOrgs } from '../../platform/orgs/claim-in-turn.store.ts';
import type { ListTable } from '../log-engine/queries/protocol.ts';
import type { ValueListContent } from './value-list-content.ts';

/** `columns` and `source` are JSON text. */
type ValueListSummaryRow = {
  name: string;
  description: string;
  columns: string;
  valuesTotal: number;
  source: string | null;
  sourceQuery: string | null;
  checkedAt: Date | null;
  failure: string | null;
  usedBy: string[];
  keyId: string | null;
  actor: string | null;
  updatedAt: Date;
};
export type ValueListRow = ValueListSummaryRow & Omit<ValueListContent, 'columns'>;

/** Detections, and suggestions, that are neither deleted nor dismissed. */
const usedBy = sql`array(select a.id::text from agents a where a.organization_id = l.organization_id and a.deleted_at is null
  and (a.tuning is not null and (coalesce(a.tuning::jsonb -> 'allowLists', '[]') ? l.name
      or a.tuning::jsonb -> 'severityRules' @> jsonb_build_array(jsonb_build_object('list', l.name)))
    or exists (select 1 from exceptions e where e.organization_id = a.organization_id and e.detection_id = a.id and (e.list = l.name or e.conditions::jsonb @> jsonb_build_array(jsonb_build_object('list', l.name))))) order by a.id)`;
const summary = sql`l.name, l.description, l.list_columns as columns, l.source, l.source_query as "sourceQuery", l.checked_at as "checkedAt", l.failure, jsonb_array_length(l.list_values::jsonb) as "valuesTotal", ${usedBy} as "usedBy",
  l.key_id as "keyId", l.actor, l.updated_at as "updatedAt"`;

/** Lists the value lists by name, without their values. */
export function listValueLists(tx: Tx, orgId: OrgId): Promise<ValueListSummaryRow[]> {
  return queryRows<ValueListSummaryRow>(tx)`
    select ${summary} from value_lists l where organization_id = ${orgId} order by name collate "C"`;
}

export async function findValueList(tx: Tx, orgId: OrgId, name: string): Promise<ValueListRow | undefined> {
  const row = await queryRow<ValueListSummaryRow & { listValues: string; listRows: string | null }>(tx)`
    select ${summary}, l.list_values as "listValues", l.list_rows as "listRows" from value_lists l where organization_id = ${orgId} and name = ${name}`;
  if (!row) return undefined;
  const { listValues, listRows, ...rest } = row;
  return {
    ...rest,
    values: JSON.parse(listValues) as string[],
    rows: listRows === null ? null : (JSON.parse(listRows) as string[][]),
  };
}

type NewValueList = ValueListContent &
  Pick<ValueListRow, 'name' | 'description' | 'keyId' | 'actor' | 'updatedAt' | 'source' | 'sourceQuery'> & {
    id: string;
  };

/** Stores a list. One with a source is fetched at the next opportunity. */
export async function upsertValueList(tx: Tx, orgId: OrgId, list: NewValueList): Promise<void> {
  await sql`insert into value_lists (organization_id, id, name, description, list_columns, list_values, list_rows, source, source_query,
      next_check_at, key_id, actor, updated_at)
    values (${orgId}, ${list.id}, ${list.name}, ${list.description}, ${JSON.stringify(list.columns)}, ${JSON.stringify(list.values)},
      ${list.rows && JSON.stringify(list.rows)}, ${list.source}, ${list.sourceQuery}, ${list.source === null ? null : list.updatedAt},
      ${list.keyId}, ${list.actor}, ${list.updatedAt})
    on conflict (organization_id, name) do update set description = excluded.description, list_columns = excluded.list_columns,
      list_values = excluded.list_values, list_rows = excluded.list_rows, source = excluded.source, source_query = excluded.source_query,
      next_check_at = excluded.next_check_at, claimed_until = null, checked_at = null, failure = null,
      key_id = excluded.key_id, actor = excluded.actor,
      updated_at = greatest(excluded.updated_at, value_lists.updated_at + interval '1 millisecond')`.execute(tx);
}

/** A list whose rows are to be fetched. `source` and `columns` are JSON text. */
export type DueList = { orgId: OrgId; name: string; source: string; sourceQuery: string | null; columns: string };

/** Claims a list that is due, in the turn of its organization. */
export async function claimDueListAcrossOrgs(tx: Tx, now: Date): Promise<DueList | undefined> {
  const due = await claimInTurnAcrossOrgs(tx, 'value_lists', now);
  return (
    due &&
    queryRow<DueList>(tx)`
      select organization_id as "orgId", name, source, source_query as "sourceQuery", list_columns as columns from value_lists
      where organization_id = ${due.orgId} and id = ${due.id}`
  );
}

/** Stores the fetched rows, or why they could not be fetched, and plans the next fetch, unless the list was replaced meanwhile. The author of the source stays the author of the list. */
export async function storeFetched(
  tx: Tx,
  { orgId, name, ...due }: DueList,
  found: ValueListContent | { failure: string },
  now: Date,
): Promise<void> {
  const content = 'failure' in found ? undefined : found;
  const [columns, values] = [JSON.stringify(content?.columns) ?? null, JSON.stringify(content?.values) ?? null];
  const rows = content?.rows ? JSON.stringify(content.rows) : null;
  await sql`
    update value_lists set claimed_until = null, checked_at = ${now}, failure = ${'failure' in found ? found.failure : null},
      next_check_at = ${now}::timestamptz + make_interval(hours => (source::jsonb ->> 'everyHours')::int),
      updated_at = case when ${content !== undefined} and (list_columns, list_values, list_rows) is distinct from (${columns}::text, ${values}::text, ${rows}::text)
        then greatest(${now}::timestamptz, updated_at + interval '1 millisecond') else updated_at end,
      list_columns = coalesce(${columns}::text, list_columns), list_values = coalesce(${values}::text, list_values),
      list_rows = case when ${content !== undefined} then ${rows}::text else list_rows end
    where organization_id = ${orgId} and name = ${name} and (source, source_query, list_columns)
      is not distinct from (${due.source}::text, ${due.sourceQuery}::text, ${due.columns}::text)`.execute(tx);
}

/** Returns those of the lists that exist, as tables for the query engine. */
export async function readListTables(tx: Tx, orgId: OrgId, names: readonly string[]): Promise<ListTable[]> {
  const rows = await queryRows<{ name: string; columns: string; listValues: string; listRows: string | null }>(tx)`
      select name, list_columns as columns, list_values as "listValues", list_rows as "listRows" from value_lists
      where organization_id = ${orgId} and name = any(${names}::text[])`;
  return rows.map(({ name, columns, listValues, listRows }) => ({
    name,
    columns: JSON.parse(columns) as string[],
    rows: listRows === null ? (JSON.parse(listValues) as string[]).map((value) => [value]) : JSON.parse(listRows),
  }));
}

/** Serializes changes of the lists of an organization until the transaction ends, also of those that do not exist yet. */
export const lockValueLists = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `value lists ${orgId}`);

export async function deleteValueList(tx: Tx, orgId: OrgId, name: string): Promise<void> {
  await sql`delete from value_lists where organization_id = ${orgId} and name = ${name}`.execute(tx);
}

/** Returns the values of the lists that exist. */
export async function readValueLists(tx: Tx, orgId: OrgId, names: readonly string[]): Promise<Map<string, string[]>> {
  if (names.length === 0) return new Map();
  const rows = await queryRows<{ name: string; listValues: string }>(tx)`
    select name, list_values as "listValues" from value_lists where organization_id = ${orgId} and name = any(${names}::text[])`;
  return new Map(rows.map(({ name, listValues }) => [name, JSON.parse(listValues) as string[]]));
}

export const describeMissingLists = (names: readonly string[]): string =>
  `The tuning specifies value lists that do not exist, so nothing is in them: ${names.join(', ')}.`;

/** Returns a function that tests whether a text is in one of the lists that exist. */
export async function readListTests(tx: Tx, orgId: OrgId, names: readonly string[]): Promise<Map<string, ListTest>> {
  const lists = await readValueLists(tx, orgId, names);
  return new Map([...lists].map(([name, values]) => [name, compileAllowList(values)]));
}

/** Returns a function that returns the lists, among those by which destinations select hits, that contain one of some texts. */
export async function readRoutingLists(tx: Tx, orgId: OrgId): Promise<(texts: readonly string[]) => string[]> {
  const named = await queryRows<{ name: string }>(tx)`
      select distinct unnest(entity_lists) as name from destinations where organization_id = ${orgId} and enabled`;
  const tests = await readListTests(
    tx,
    orgId,
    named.map(({ name }) => name),
  );
  return (texts) => [...tests].flatMap(([name, isListed]) => (texts.some(isListed) ? [name] : []));
}

/** Returns the names of the destinations that select hits by a list. */
export async function listRoutedBy(tx: Tx, orgId: OrgId, name: string): Promise<string[]> {
  const found = await queryRows<{ name: string }>(tx)`
      select name from destinations where organization_id = ${orgId} and ${name} = any(entity_lists) order by name`;
  return found.map((row) => row.name);
}

const likeMax = 5_000;

/** Returns the entries that equal one of the values, in any case, or that are patterns or networks, of all lists except those of entity aliases. */
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

/** Returns the lists that contain a value as a whole, in any case, except those of entity aliases. Patterns and networks are not compared. */
export function findListsWith(
  tx: Tx,
  orgId: OrgId,
  value: string,
): Promise<{ list: string; description: string; entry: string }[]> {
  return queryRows<{ list: string; description: string; entry: string }>(tx)`
      select l.name as list, l.description, v.entry from value_lists l
        cross join lateral jsonb_array_elements_text(l.list_values::jsonb) as v (entry)
      where l.organization_id = ${orgId} and l.name <> all(${entityLists}::text[]) and lower(v.entry) = lower(${value}) order by l.name collate "C"`;
}

/** Adds to entries of lists the other columns of their rows by name, if there are any. Empty cells are left out. */
export async function addRows<Entry extends { list: string; entry: string }>(
  tx: Tx,
  orgId: OrgId,
  entries: readonly Entry[],
): Promise<(Entry & { row?: Record<string, string> })[]> {
  if (entries.length === 0) return [];
  const tables = await readListTables(tx, orgId, [...new Set(entries.map(({ list }) => list))]);
  return entries.map((entry) => {
    const { columns = [], rows = [] } = tables.find(({ name }) => name === entry.list) ?? {};
    const cells = rows.find(([first]) => first === entry.entry) ?? [];
    const named = columns.map((column, index) => [column, cells[index] ?? ''] as const).slice(1);
    const row = Object.fromEntries(named.filter(([, cell]) => cell !== ''));
    return Object.keys(row).length > 0 ? { ...entry, row } : entry;
  });
}

/** Replaces a value in lists. Returns the number of lists. */
export function replaceInValueLists(tx: Tx, author: Author, value: string): Promise<number> {
  const columns = ['description', 'list_values', 'list_rows', 'source_query', 'failure'];
  return replaceValue(tx, { orgId: author.orgId, table: 'value_lists', columns, author }, value);
}
