import { fieldError } from '../../../platform/lib/errors.ts';
import type { ColumnType } from './column-types.ts';

/** `FROM <dataset>_history` reads the events before the window. */
export const historySuffix = '_history';
/** `POST /api/logs/search` is a route. */
const routeName = 'search';
/** The service itself writes this dataset, so that what stands in it is true. */
export const sightingsDataset = 'feed_sightings';
const datasetNamePattern = /^[a-z][a-z0-9_]{0,62}$/;

export function isDatasetName(name: string): boolean {
  return datasetNamePattern.test(name) && !name.endsWith(historySuffix) && name !== routeName;
}

/** Returns whether events can be sent to a dataset of this name. */
export const takesEvents = (name: string): boolean => isDatasetName(name) && name !== sightingsDataset;

/** Throws a 400 if events cannot be sent to a dataset of this name. */
export function checkSentDataset(name: string): void {
  checkDatasetName(name);
  if (!takesEvents(name))
    throw fieldError('path/dataset', 'reserved_name', `The service itself writes the dataset ${name}.`);
}

/** Throws a 400 if the name is not a valid dataset name. */
export function checkDatasetName(name: string): void {
  if (isDatasetName(name)) return;
  const detail = `A dataset name starts with a lowercase letter, followed by up to 62 lowercase letters, digits or underscores, and does not end in ${historySuffix}. It is not ${routeName}.`;
  throw fieldError('path/dataset', 'invalid_name', detail);
}

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
