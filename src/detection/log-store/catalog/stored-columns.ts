import type { CatalogField, StoredColumn } from './catalog.ts';
import type { ColumnType } from './column-types.ts';

/**
 * A Parquet file has at most this many columns of events, because the engine needs more than a megabyte for each that it writes. The others
 * are read from the event.
 */
export const storedColumnsMax = 200;

/** Columns that other engines derive from the path of a file. */
const partitionColumns = ['dataset', 'date', 'hour'];

/** Returns the columns of Parquet files that these fields have, in the order of the files. */
export function listStoredFields(fields: readonly CatalogField[]): (CatalogField & { stored: StoredColumn })[] {
  return fields
    .filter((field): field is CatalogField & { stored: StoredColumn } => field.stored !== undefined)
    .toSorted((a, b) => a.stored.position - b.stored.position);
}

/** Returns the fields with a stored column for each that has a type and none yet, as long as files have room. Others stay the same objects. */
export function assignStoredColumns(fields: readonly CatalogField[]): CatalogField[] {
  const stored = listStoredFields(fields).map((field) => field.stored);
  const taken = new Set([...partitionColumns, ...stored.map(({ name }) => name.toLowerCase())]);
  const owned = new Set(fields.map(({ name }) => name.toLowerCase()));
  let position = stored.length;
  return fields.map((field) => {
    if (field.stored || field.type === 'NULL' || position >= storedColumnsMax) return field;
    let name = field.name;
    while (taken.has(name.toLowerCase()) || (name !== field.name && owned.has(name.toLowerCase()))) name += '_';
    taken.add(name.toLowerCase());
    return { ...field, stored: { name, type: toStoredType(field.type), position: position++ } };
  });
}

/** Lists that were always empty may turn out to contain objects. */
const toStoredType = (type: ColumnType): ColumnType => (type === 'NULL[]' ? 'JSON' : type);
