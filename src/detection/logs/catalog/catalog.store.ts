import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { mergeFields, type CatalogField } from './catalog.ts';
import type { ColumnType } from './column-types.ts';

type ColumnRow = { name: string; type: ColumnType; keys: string[]; nested: string | null; open: boolean };

/** One version of a dataset's catalog. A version never changes once it is committed. */
export type CatalogVersion = { orgId: OrgId; dataset: string; version: number };

/** Catalogs by organization, dataset and version. */
export type CatalogCache = LRUCache<string, CatalogField[]>;

export const createCatalogCache = (): CatalogCache => new LRUCache({ max: 200 });

/** Returns the columns of a dataset in the order of their positions. */
export async function loadCatalog(
  tx: Tx,
  catalogs: CatalogCache,
  { orgId, dataset, version }: CatalogVersion,
): Promise<CatalogField[]> {
  const key = `${orgId} ${dataset} ${version}`;
  const cached = catalogs.get(key);
  if (cached) return cached;
  const rows = await queryRows<ColumnRow>(
    tx,
    sql<ColumnRow>`
      select name, type, keys, nested, open from dataset_columns where organization_id = ${orgId} and dataset = ${dataset} order by position`,
  );
  const fields = rows.map(({ nested, ...column }) => ({
    ...column,
    nested: nested === null ? [] : (JSON.parse(nested) as CatalogField[]),
  }));
  catalogs.set(key, fields);
  return fields;
}

/** Adds the fields observed in a batch. The caller holds the dataset's row lock, which makes the version and the positions safe. */
export async function extendCatalog(
  tx: Tx,
  catalogs: CatalogCache,
  { observed, ...current }: CatalogVersion & { observed: CatalogField[] },
): Promise<void> {
  const { orgId, dataset, version } = current;
  const known = await loadCatalog(tx, catalogs, current);
  const { fields, changed } = mergeFields(known, observed);
  if (!changed) return;
  const columns = fields.flatMap(({ nested, ...field }, position) =>
    fields[position] === known[position]
      ? []
      : [{ ...field, position, nested: nested.length > 0 ? JSON.stringify(nested) : null }],
  );
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
