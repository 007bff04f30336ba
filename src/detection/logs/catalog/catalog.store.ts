import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { mergeFields, type CatalogField } from './catalog.ts';
import type { ColumnType } from './column-types.ts';

type ColumnRow = { name: string; type: ColumnType; keys: string[]; nested: string | null; open: boolean };

/** A dataset's catalogue by its version: a version never changes, so it may be kept as long as there is room. */
const kept = new Map<string, CatalogField[]>();
const keptMax = 200;

/** The columns of a dataset in the order of their positions. */
export async function loadCatalog(tx: Tx, orgId: OrgId, dataset: string, version: number): Promise<CatalogField[]> {
  const key = `${orgId} ${dataset} ${version}`;
  const known = kept.get(key);
  if (known) return known;
  const found = await queryRows<ColumnRow>(
    tx,
    sql<ColumnRow>`
      select name, type, keys, nested, open from dataset_columns where organization_id = ${orgId} and dataset = ${dataset} order by position`,
  );
  const fields = found.map(({ nested, ...column }) => ({
    ...column,
    nested: nested === null ? [] : (JSON.parse(nested) as CatalogField[]),
  }));
  keep(key, fields);
  return fields;
}

function keep(key: string, fields: CatalogField[]): void {
  if (kept.size >= keptMax) kept.delete(kept.keys().next().value!);
  kept.set(key, fields);
}

/** Adds what a batch saw. Runs under the dataset's row lock, which makes the version and the positions safe. */
export async function extendCatalog(
  tx: Tx,
  orgId: OrgId,
  { dataset, version, seen }: { dataset: string; version: number; seen: CatalogField[] },
): Promise<void> {
  const known = await loadCatalog(tx, orgId, dataset, version);
  const { fields, changed } = mergeFields(known, seen);
  if (!changed) return;
  const grown = fields.flatMap((field, position) => (field === known[position] ? [] : [{ ...field, position }]));
  const columns = grown.map(({ nested, ...field }) => ({
    ...field,
    nested: nested.length > 0 ? JSON.stringify(nested) : null,
  }));
  await sql`
    insert into dataset_columns (organization_id, dataset, name, type, position, keys, nested, open)
    select ${orgId}, ${dataset}, c.name, c.type, c.position, c.keys, c.nested, c.open
    from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as c(name text, type text, position int, keys text[], nested text, open boolean)
    on conflict (organization_id, dataset, name) do update set type = excluded.type, keys = excluded.keys, nested = excluded.nested, open = excluded.open`.execute(
    tx,
  );
  await sql`
    update datasets set catalogue_version = ${version + 1} where organization_id = ${orgId} and name = ${dataset}`.execute(
    tx,
  );
}
