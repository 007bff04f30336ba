import type { ColumnType } from './column-types.ts';

/** A column of a dataset's Parquet files. A file has the first ones by `position`. Neither name nor type ever changes, so that all files agree. */
export type StoredColumn = { name: string; type: ColumnType; position: number };

/**
 * A key that occurs in a dataset's events. `keys` lists its spellings, because names are compared without regard to case. `anySpelling` is
 * true when it has more spellings than `keys` lists. `nested` lists the keys of the objects stored under it. `open` is true when those
 * objects have more keys than `nested` lists. `mixed` is true when it has had values that do not fit `type`. `declared` is the type that a
 * user declared, which then is `type`. `stored` is its column in Parquet files, if any has it.
 */
export type CatalogField = {
  name: string;
  keys: string[];
  type: ColumnType;
  nested: CatalogField[];
  open: boolean;
  mixed?: boolean;
  anySpelling?: boolean;
  declared?: ColumnType;
  stored?: StoredColumn;
};

export const catalogLimits = {
  columnsMax: 1000,
  /** Keys of one object. */
  nestedMax: 100,
  /** Columns and nested keys of one dataset. */
  pathsMax: 5000,
  depthMax: 5,
  keyCharsMax: 200,
  spellingsMax: 8,
};

/** The columns of every dataset. An event key with one of these names is only reachable through `_event`. */
export const systemColumns = ['_id', '_time', '_ingested', '_event'] as const;

/**
 * The text of an event. `_text` is a column for keyword search that `SELECT *` does not include, and `_text.a.b` is the value of the key `a.b` as text,
 * whatever its type.
 */
export const textColumn = '_text';

const reserved: ReadonlySet<string> = new Set([...systemColumns, textColumn]);

export const isReservedName = (name: string): boolean => reserved.has(name.toLowerCase());

/** Fields by dataset name. */
export type FieldsByDataset = Map<string, CatalogField[]>;

/** Returns the field with this name, ignoring case. */
export function findField<Field extends { name: string }>(fields: Field[], name: string): Field | undefined {
  const lower = name.toLowerCase();
  return fields.find((field) => field.name.toLowerCase() === lower);
}

type Listed = { nested: readonly Listed[] };

/** Returns whether events may have top-level keys that these fields of a catalog or a batch do not list. */
export const isCatalogFull = (fields: readonly Listed[]): boolean =>
  fields.length >= catalogLimits.columnsMax || countPaths(fields) >= catalogLimits.pathsMax;

/** Returns the number of columns and nested keys. */
export function countPaths(fields: readonly Listed[]): number {
  return fields.reduce((sum, field) => sum + 1 + countPaths(field.nested), 0);
}
