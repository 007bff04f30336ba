import { catalogLimits, countPaths, isCatalogFull, type CatalogField } from './catalog.ts';
import { fitsType, countMisfits, decideType, type ColumnType, type TypeCounts } from './column-types.ts';
import type { ObservedField } from './field-observer.ts';

/**
 * The types of a column's values since the dataset's first event. `drift` describes the last batch with values that did not fit the
 * column's type. `reportedOn` is the UTC day of the last event about it.
 */
export type ColumnStats = {
  name: string;
  counts: TypeCounts;
  drift?: { type: ColumnType; at: string };
  reportedOn?: string;
  nested: ColumnStats[];
};

/** Values of a batch that do not fit their column, or a column whose type changes with the batch (`previousType`). */
export type ColumnDrift = {
  column: string;
  type: ColumnType;
  valueType: ColumnType;
  count: number;
  previousType?: ColumnType;
  stats: ColumnStats;
};

export type Catalog = { fields: CatalogField[]; stats: ColumnStats[] };

type Merge = { at: Date; keepTypes: boolean; pathsLeft: number; drifts: ColumnDrift[] };

/**
 * Merges observed fields into a dataset's catalog and returns new lists. `changed` is true if a field was added or changed; statistics always
 * change. `keepTypes`: known types stay as they are. `at` is the time of the batch.
 */
export function mergeCatalog(
  known: Catalog,
  observed: ObservedField[],
  { at, keepTypes = false }: { at: Date; keepTypes?: boolean },
): Catalog & { changed: boolean; drifts: ColumnDrift[] } {
  const merge: Merge = { at, keepTypes, pathsLeft: catalogLimits.pathsMax - countPaths(known.fields), drifts: [] };
  const level = { max: catalogLimits.columnsMax, prefix: '', isPartial: isCatalogFull(observed) };
  const { fields, stats, changed } = mergeLevel(known, observed, level, merge);
  return { fields, stats, changed, drifts: merge.drifts };
}

/** `isPartial`: the batch has had more keys than were observed. */
type Level = { max: number; prefix: string; isPartial: boolean };

function mergeLevel(
  known: Catalog,
  observed: ObservedField[],
  { max, prefix, isPartial }: Level,
  merge: Merge,
): Catalog & { changed: boolean; full: boolean } {
  const [fields, stats] = [[...known.fields], [...known.stats]];
  const fieldIndex = new Map(fields.map(({ name }, index) => [name.toLowerCase(), index]));
  const statsIndex = new Map(stats.map(({ name }, index) => [name.toLowerCase(), index]));
  let [changed, full] = [false, false];
  for (const field of observed) {
    const name = field.name.toLowerCase();
    const index = fieldIndex.get(name) ?? fields.length;
    if (index === fields.length && (index >= max || merge.pathsLeft <= 0)) {
      full = true;
      continue;
    }
    if (index === fields.length) merge.pathsLeft -= 1;
    const atStats = statsIndex.get(name) ?? stats.length;
    const merged = mergeField(fields[index], stats[atStats], { field, path: prefix + field.name }, merge);
    if (merged.field !== fields[index]) changed = true;
    fields[index] = merged.field;
    stats[atStats] = merged.stats;
  }
  if (!isPartial) return { fields, stats, changed, full };
  const names = new Set(observed.map(({ name }) => name.toLowerCase()));
  const marked = fields.map((field) => (names.has(field.name.toLowerCase()) ? field : expectAnything(field)));
  return { fields: marked, stats, changed: changed || marked.some((field, index) => field !== fields[index]), full };
}

/** Returns a field that a batch may have had in any spelling and with any value, because too many other keys were observed. */
function expectAnything(field: CatalogField): CatalogField {
  const nested = field.nested.map(expectAnything);
  const open = field.open || field.type === 'JSON';
  const isSame =
    field.anySpelling === true &&
    field.mixed === true &&
    open === field.open &&
    nested.every((one, index) => one === field.nested[index]);
  return isSame ? field : { ...field, nested, open, mixed: true, anySpelling: true };
}

function mergeField(
  known: CatalogField | undefined,
  earlier: ColumnStats | undefined,
  { field, path }: { field: ObservedField; path: string },
  merge: Merge,
): { field: CatalogField; stats: ColumnStats } {
  const a: CatalogField = known ?? { name: field.name, keys: [], type: 'NULL', nested: [], open: false };
  const counts = addCounts(earlier?.counts ?? {}, field.counts);
  const isKept = merge.keepTypes && a.type !== 'NULL';
  const type = a.declared ?? (isKept ? a.type : decideType(counts, a.type));
  const nested = mergeLevel(
    { fields: a.nested, stats: earlier?.nested ?? [] },
    field.nested,
    { max: catalogLimits.nestedMax, prefix: `${path}.`, isPartial: field.open },
    merge,
  );
  const stats: ColumnStats = { name: a.name, counts, nested: nested.stats };
  if (earlier?.drift) stats.drift = earlier.drift;
  if (earlier?.reportedOn !== undefined) stats.reportedOn = earlier.reportedOn;
  addDrift(merge, { column: path, previousType: a.type, type, batch: field.counts, stats });
  const allKeys = [...a.keys, ...field.keys.filter((key) => !a.keys.includes(key))];
  const keys = allKeys.slice(0, catalogLimits.spellingsMax);
  const anySpelling = (a.anySpelling ?? false) || field.anySpelling || allKeys.length > keys.length;
  const open = a.open || field.open || nested.full;
  const mixed = (type === a.type && (a.mixed ?? false)) || countMisfits(counts, type) > 0;
  const isSame =
    known !== undefined &&
    type === a.type &&
    keys.length === a.keys.length &&
    anySpelling === (a.anySpelling ?? false) &&
    !nested.changed &&
    open === a.open &&
    mixed === (a.mixed ?? false);
  return { field: isSame ? a : { ...a, keys, type, nested: nested.fields, open, mixed, anySpelling }, stats };
}

function addCounts(a: TypeCounts, b: TypeCounts): TypeCounts {
  const sum = { ...a };
  for (const [type, n] of Object.entries(b) as [ColumnType, number][])
    if (type !== 'NULL') sum[type] = (sum[type] ?? 0) + n;
  return sum;
}

type ColumnBatch = {
  column: string;
  previousType: ColumnType;
  type: ColumnType;
  batch: TypeCounts;
  stats: ColumnStats;
};

function addDrift(merge: Merge, { column, previousType, type, batch, stats }: ColumnBatch): void {
  const misfits = (Object.entries(batch) as [ColumnType, number][])
    .filter(([value]) => type !== 'NULL' && !fitsType(type, value))
    .toSorted((a, b) => b[1] - a[1]);
  const valueType = misfits[0]?.[0] ?? type;
  if (misfits.length > 0) stats.drift = { type: valueType, at: merge.at.toISOString() };
  const hasChanged = !fitsType(type, previousType);
  const becameText = type === 'VARCHAR' && previousType !== 'VARCHAR' && previousType !== 'NULL';
  if (misfits.length === 0 && !hasChanged && !becameText) return;
  const count = misfits.reduce((sum, [, n]) => sum + n, 0);
  const change = hasChanged || becameText ? { previousType } : {};
  merge.drifts.push({ column, type, valueType, count, ...change, stats });
}

/** A segment lists the values that did not fit for at most this many columns. */
export const storedMax = 100;
/** Stands for the columns that a segment does not list. No column has an empty name. */
export const otherColumns = '';

/** Returns the number of values that did not fit, by column, as the text that a segment stores. Null if all fitted. */
export function serializeDrift(drifts: ColumnDrift[]): string | null {
  const counted = drifts.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count);
  if (counted.length === 0) return null;
  const counts = Object.fromEntries(counted.slice(0, storedMax).map(({ column, count }) => [column, count]));
  const rest = counted.slice(storedMax).reduce((sum, { count }) => sum + count, 0);
  return JSON.stringify(rest > 0 ? { ...counts, [otherColumns]: rest } : counts);
}
