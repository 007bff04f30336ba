import { catalogLimits, isReservedName, isCatalogFull, type CatalogField } from './catalog.ts';
import { inferType, type ColumnType, type TypeCounts } from './column-types.ts';

/** A key that occurs in a batch of events, with the number of its values by type. The other properties are those of a `CatalogField`. */
export type ObservedField = {
  name: string;
  keys: string[];
  counts: TypeCounts;
  nested: ObservedField[];
  open: boolean;
  anySpelling: boolean;
};

type Index = { list: ObservedField[]; byKey: Map<string, ObservedField>; byName: Map<string, ObservedField> };

type FieldObserver = { observe: (event: Record<string, unknown>) => void; observed: () => ObservedField[] };

const { columnsMax, nestedMax, pathsMax, depthMax, keyCharsMax, spellingsMax } = catalogLimits;

/**
 * Collects the fields of a batch of events, so that the dataset's catalog is read and merged only once per batch. With `known`, observes these
 * fields and no others, and returns all of them, those without a value too.
 */
export function createFieldObserver(known?: readonly CatalogField[]): FieldObserver {
  const nested = new Map<ObservedField, Index>();
  const top = createIndex(known ?? [], nested);
  let paths = 0;
  const indexOf = (field: ObservedField): Index => {
    let index = nested.get(field);
    if (!index) {
      index = { list: field.nested, byKey: new Map(), byName: new Map() };
      nested.set(field, index);
    }
    return index;
  };
  const addKey = (index: Index, key: string, max: number): ObservedField | undefined => {
    // PostgreSQL cannot store U+0000 or lone surrogates, and the engine has no empty column names.
    if (key === '' || key.length > keyCharsMax || key.includes('\u0000') || !key.isWellFormed()) return undefined;
    const lower = key.toLowerCase();
    const existing = index.byName.get(lower);
    if (existing) {
      if (existing.keys.length >= spellingsMax) existing.anySpelling = true;
      else {
        existing.keys.push(key);
        index.byKey.set(key, existing);
      }
      return existing;
    }
    if (known || index.list.length >= max || paths >= pathsMax) return undefined;
    paths += 1;
    const field: ObservedField = { name: key, keys: [key], counts: {}, nested: [], open: false, anySpelling: false };
    index.list.push(field);
    index.byKey.set(key, field);
    index.byName.set(lower, field);
    return field;
  };
  const observe = (index: Index, value: Record<string, unknown>, depth: number): boolean => {
    let complete = true;
    for (const key of Object.keys(value)) {
      const isReserved = depth === 0 && isReservedName(key);
      const field = isReserved
        ? undefined
        : (index.byKey.get(key) ?? addKey(index, key, depth === 0 ? columnsMax : nestedMax));
      if (!field) {
        complete = false;
        continue;
      }
      const child = value[key];
      const type: ColumnType = inferType(child);
      field.counts[type] = (field.counts[type] ?? 0) + 1;
      if (child !== null && typeof child === 'object' && !Array.isArray(child)) {
        const isComplete = depth < depthMax && observe(indexOf(field), child as Record<string, unknown>, depth + 1);
        if (!isComplete) field.open = true;
      }
    }
    return complete;
  };
  return {
    observe: (event) => void observe(top, event, 0),
    observed: () => top.list,
  };
}

/** Returns an index with the known fields of one level and, in `nested`, those of the levels below. */
function createIndex(known: readonly CatalogField[], nested: Map<ObservedField, Index>): Index {
  const index: Index = { list: [], byKey: new Map(), byName: new Map() };
  for (const { name, nested: below } of known) {
    const inner = createIndex(below, nested);
    const field: ObservedField = { name, keys: [], counts: {}, nested: inner.list, open: false, anySpelling: false };
    nested.set(field, inner);
    index.list.push(field);
    index.byName.set(name.toLowerCase(), field);
  }
  return index;
}

/** Returns whether the events of a batch have keys that were not observed, because there are too many. */
export const hasUnobserved = (observed: readonly ObservedField[]): boolean =>
  isCatalogFull(observed) || hasOpen(observed);

const hasOpen = (fields: readonly ObservedField[]): boolean =>
  fields.some(({ open, nested }) => open || hasOpen(nested));

/**
 * Returns whether a batch may have values that do not fit known fields and that were not observed, because the batch has too many other keys.
 */
export const mayHideValues = (known: readonly CatalogField[], observed: readonly ObservedField[]): boolean =>
  hidesAny(known, observed, isCatalogFull(observed));

function hidesAny(known: readonly CatalogField[], observed: readonly ObservedField[], isPartial: boolean): boolean {
  const byName = new Map(observed.map((field) => [field.name.toLowerCase(), field]));
  return known.some((field) => {
    const seen = byName.get(field.name.toLowerCase());
    return seen ? hidesAny(field.nested, seen.nested, seen.open) : isPartial && canDrift(field);
  });
}

/** Returns whether values of another type can be hidden in a field. Any value fits a column of text. */
const canDrift = ({ type }: CatalogField): boolean => type !== 'VARCHAR' && type !== 'NULL';

/** Replaces the observed fields that were examined a second time, and adds those that were hidden. */
export function replaceExamined(
  observed: readonly ObservedField[],
  examined: readonly ObservedField[],
): ObservedField[] {
  const byName = new Map(observed.map((field) => [field.name.toLowerCase(), field]));
  const names = new Set(examined.map(({ name }) => name.toLowerCase()));
  const complete = examined.map((field) => {
    const seen = byName.get(field.name.toLowerCase());
    return seen ? { ...field, open: seen.open, nested: replaceExamined(seen.nested, field.nested) } : field;
  });
  return [...complete, ...observed.filter(({ name }) => !names.has(name.toLowerCase()))];
}
