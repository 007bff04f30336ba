import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { toRecordset } from '../../../platform/db/recordset.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { countPaths, assignStoredColumns, type CatalogField, type StoredColumn } from './catalog.ts';
import type { ColumnType } from './column-types.ts';
import type { ObservedField } from './field-observer.ts';
import { mergeCatalog, type Catalog, type ColumnDrift, type ColumnStats } from './merge-catalog.ts';

const datasetsMax = 1000;

type DatasetLock = { last: Date | null; sealed: Date | null; version: number; hasQuota: boolean };

/** Locks the row of a dataset, which is created if it does not exist, until the transaction ends. */
export async function lockDataset(
  tx: Tx,
  orgId: OrgId,
  { dataset, now }: { dataset: string; now: Date },
): Promise<DatasetLock> {
  const find = (): Promise<DatasetLock | undefined> =>
    queryRow<DatasetLock>(
      tx,
      sql<DatasetLock>`
        select last_ingested_at as last, sealed_until as sealed, catalogue_version as version, ${hasLogQuota(orgId)} as "hasQuota" from datasets
        where organization_id = ${orgId} and name = ${dataset} for update`,
    );
  const existing = await find();
  if (existing) return existing;
  await sql`
    insert into datasets (organization_id, name, created_at)
    select ${orgId}, ${dataset}, ${now} where (select count(*) from datasets where organization_id = ${orgId}) < ${datasetsMax}
    on conflict do nothing`.execute(tx);
  const inserted = await find();
  if (!inserted)
    throw appError('conflict', `The organization already has ${datasetsMax} datasets, which is the maximum.`);
  return inserted;
}

/** Condition that an organization has a quota of logs. */
const hasLogQuota = (orgId: OrgId) => sql<boolean>`exists (
  select from organization_limits where organization_id = ${orgId} and coalesce(log_events_per_day, log_bytes_per_day, log_bytes_stored) is not null)`;

/**
 * Seals datasets until a time: everything published later gets an `_ingested` time at or after it. Waits for batches that are being
 * published. List the segments of a window in a later statement, which sees those batches. Creates datasets that have no events yet, so that they are
 * sealed too. Leaves datasets alone that are already sealed that far, because the transaction that sealed them has waited.
 */
export async function sealDatasets(tx: Tx, orgId: OrgId, datasets: string[], until: Date): Promise<void> {
  await sql`
    insert into datasets (organization_id, name, created_at, sealed_until)
    select ${orgId}, requested.name, ${until}, ${until} from unnest(${datasets.toSorted()}::text[]) as requested (name)
    where not exists (select from datasets d where d.organization_id = ${orgId} and d.name = requested.name and d.sealed_until >= ${until})
    order by requested.name
    on conflict (organization_id, name) do update set sealed_until = excluded.sealed_until
      where datasets.sealed_until is null or datasets.sealed_until < excluded.sealed_until`.execute(tx);
}

type ColumnRow = {
  name: string;
  type: ColumnType;
  keys: string[];
  nested: string | null;
  open: boolean;
  mixed: boolean;
  anySpelling: boolean;
  declared: ColumnType | null;
  stored: StoredColumn | null;
};

/** One version of a dataset's catalog. A version never changes once it is committed. */
type CatalogVersion = { orgId: OrgId; dataset: string; version: number };

/** Catalogs by organization, dataset and version. */
export type CatalogCache = LRUCache<string, CatalogField[]>;

const pathsCachedMax = 200_000;

/** The size of the cache is the number of columns in it, because a catalog has between one and thousands of them. */
export const createCatalogCache = (): CatalogCache =>
  new LRUCache({ maxSize: pathsCachedMax, sizeCalculation: (fields) => 1 + countPaths(fields) });

/** Returns the current version of a dataset's catalog, or undefined if the dataset does not exist. */
export function findCatalogVersion(tx: Tx, orgId: OrgId, dataset: string): Promise<CatalogVersion | undefined> {
  return queryRow<CatalogVersion>(tx)`
    select organization_id as "orgId", name as dataset, catalogue_version as version from datasets
    where organization_id = ${orgId} and name = ${dataset}`;
}

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
      select name, type, keys, nested, open, mixed, any_spelling as "anySpelling", declared,
        case when stored_position is not null then json_build_object('name', stored_name, 'type', stored_type, 'position', stored_position) end as stored
      from dataset_columns
      where organization_id = ${orgId} and dataset = ${dataset} order by position`,
  );
  const fields = rows.map(({ nested, declared, stored, ...column }) => ({
    ...column,
    ...(declared === null ? {} : { declared }),
    ...(stored === null ? {} : { stored }),
    nested: nested === null ? [] : (JSON.parse(nested) as CatalogField[]),
  }));
  catalogs.set(key, fields);
  return fields;
}

/** Returns what the values of a dataset's columns have been. */
export async function loadStatistics(tx: Tx, orgId: OrgId, dataset: string): Promise<ColumnStats[]> {
  const row = await queryRow<{ columns: string }>(tx)`
    select columns from dataset_statistics where organization_id = ${orgId} and dataset = ${dataset}`;
  return row ? (JSON.parse(row.columns) as ColumnStats[]) : [];
}

export async function saveStatistics(tx: Tx, orgId: OrgId, dataset: string, stats: ColumnStats[]): Promise<void> {
  await sql`
    insert into dataset_statistics (organization_id, dataset, columns) values (${orgId}, ${dataset}, ${JSON.stringify(stats)})
    on conflict (organization_id, dataset) do update set columns = excluded.columns`.execute(tx);
}

/**
 * Adds the fields observed in a batch to the catalog and its statistics, and decides the columns' types. Returns the values that do not fit
 * their columns. The caller holds the dataset's row lock, which makes the version and the positions safe, and saves the statistics.
 */
export async function extendCatalog(
  tx: Tx,
  catalogs: CatalogCache,
  { observed, at, ...current }: CatalogVersion & { observed: ObservedField[]; at: Date },
): Promise<{ stats: ColumnStats[]; drifts: ColumnDrift[] }> {
  const known: Catalog = {
    fields: await loadCatalog(tx, catalogs, current),
    stats: await loadStatistics(tx, current.orgId, current.dataset),
  };
  const { fields, stats, changed, drifts } = mergeCatalog(known, observed, { at });
  if (changed) await saveCatalog(tx, current, { before: known.fields, fields });
  return { stats, drifts };
}

/** Stores the fields that differ from those before, as the next version. The caller holds the dataset's row lock. */
export async function saveCatalog(
  tx: Tx,
  { orgId, dataset, version }: CatalogVersion,
  { before, fields }: { before: CatalogField[]; fields: CatalogField[] },
): Promise<void> {
  const columns = fields.flatMap(({ nested, anySpelling, ...field }, position) =>
    fields[position] === before[position]
      ? []
      : [
          {
            ...field,
            position,
            nested: nested.length > 0 ? JSON.stringify(nested) : null,
            any_spelling: anySpelling ?? false,
            mixed: field.mixed ?? false,
          },
        ],
  );
  await sql`
    insert into dataset_columns (organization_id, dataset, name, type, position, keys, nested, open, mixed, any_spelling, declared)
    select ${orgId}, ${dataset}, c.name, c.type, c.position, c.keys, c.nested, c.open, c.mixed, c.any_spelling, c.declared
    from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as c(name text, type text, position int, keys text[], nested text, open boolean,
      mixed boolean, any_spelling boolean, declared text)
    on conflict (organization_id, dataset, name) do update set type = excluded.type, keys = excluded.keys, nested = excluded.nested,
      open = excluded.open, mixed = excluded.mixed, any_spelling = excluded.any_spelling, declared = excluded.declared`.execute(
    tx,
  );
  await sql`
    update datasets set catalogue_version = ${version + 1}
      where organization_id = ${orgId} and name = ${dataset}`.execute(tx);
}

/**
 * Gives every column with a type a place in the Parquet files of the dataset, as long as files have room, and returns all columns. The caller
 * holds the dataset's row lock.
 */
export async function saveStoredColumns(
  tx: Tx,
  catalogs: CatalogCache,
  current: CatalogVersion,
): Promise<CatalogField[]> {
  const before = await loadCatalog(tx, catalogs, current);
  const fields = assignStoredColumns(before);
  const added = fields.flatMap(({ name, stored }, index) =>
    stored && !before[index]!.stored
      ? [{ name, stored_name: stored.name, stored_type: stored.type, stored_position: stored.position }]
      : [],
  );
  if (added.length === 0) return fields;
  const { orgId, dataset, version } = current;
  await sql`
    update dataset_columns d set stored_name = n.stored_name, stored_type = n.stored_type, stored_position = n.stored_position
    from ${toRecordset(added, storedTypes)}
    where d.organization_id = ${orgId} and d.dataset = ${dataset} and d.name = n.name`.execute(tx);
  await sql`
    update datasets set catalogue_version = ${version + 1}
      where organization_id = ${orgId} and name = ${dataset}`.execute(tx);
  return fields;
}

const storedTypes = { name: 'text', stored_name: 'text', stored_type: 'text', stored_position: 'int' };
