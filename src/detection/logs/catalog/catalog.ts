import { inferType, widenType, type ColumnType } from './column-types.ts';

/**
 * A key that occurs in a dataset's events. `keys` lists its spellings, because the engine does not distinguish `User` from `user`. `nested`
 * lists the keys of the objects stored under it. `open` is true when those objects have more keys than `nested` lists.
 */
export type CatalogField = { name: string; keys: string[]; type: ColumnType; nested: CatalogField[]; open: boolean };

const columnsMax = 1000;
const nestedMax = 100;
const depthMax = 5;
const keyCharsMax = 200;
const spellingsMax = 8;

/** The columns of every dataset. An event key with one of these names is only reachable through `_event`. */
export const systemColumns = ['_id', '_time', '_ingested', '_event'] as const;
const reserved: ReadonlySet<string> = new Set(systemColumns);

/** Fields by dataset name. */
export type FieldsByDataset = Map<string, CatalogField[]>;

type Index = { list: CatalogField[]; byKey: Map<string, CatalogField>; byName: Map<string, CatalogField> };

export type FieldObserver = { observe: (event: Record<string, unknown>) => void; observed: () => CatalogField[] };

/** Collects the fields of a batch of events, so that the dataset's catalog is read and merged only once per batch. */
export function createFieldObserver(): FieldObserver {
  const top: Index = { list: [], byKey: new Map(), byName: new Map() };
  const nested = new Map<CatalogField, Index>();
  const indexOf = (field: CatalogField): Index => {
    let index = nested.get(field);
    if (!index) {
      index = { list: field.nested, byKey: new Map(), byName: new Map() };
      nested.set(field, index);
    }
    return index;
  };
  const observe = (index: Index, value: Record<string, unknown>, depth: number): boolean => {
    let complete = true;
    for (const key of Object.keys(value)) {
      const field = index.byKey.get(key) ?? addKey(index, key, depth === 0 ? columnsMax : nestedMax);
      if (!field || (depth === 0 && reserved.has(field.name.toLowerCase()))) {
        complete = false;
        continue;
      }
      const child = value[key];
      field.type = widenType(field.type, inferType(child));
      if (child !== null && typeof child === 'object' && !Array.isArray(child)) {
        const isComplete = depth < depthMax && observe(indexOf(field), child as Record<string, unknown>, depth + 1);
        if (!isComplete) field.open = true;
      }
    }
    return complete;
  };
  return {
    observe: (event) => void observe(top, event, 0),
    observed: () => top.list.filter((field) => !reserved.has(field.name.toLowerCase())),
  };
}

function addKey(index: Index, key: string, max: number): CatalogField | undefined {
  // PostgreSQL cannot store U+0000 or lone surrogates, and the engine has no empty column names.
  if (key === '' || key.length > keyCharsMax || key.includes('\u0000') || !key.isWellFormed()) return undefined;
  const lower = key.toLowerCase();
  const existing = index.byName.get(lower);
  if (existing) {
    if (existing.keys.length >= spellingsMax) return undefined;
    existing.keys.push(key);
    index.byKey.set(key, existing);
    return existing;
  }
  if (index.list.length >= max) return undefined;
  const field: CatalogField = { name: key, keys: [key], type: 'NULL', nested: [], open: false };
  index.list.push(field);
  index.byKey.set(key, field);
  index.byName.set(lower, field);
  return field;
}

/**
 * Merges observed fields into a dataset's known fields and returns new lists. `changed` is true if a field was added or widened, `full` if a
 * field was left out because there are already `max` fields.
 */
export function mergeFields(
  known: CatalogField[],
  observed: CatalogField[],
  max = columnsMax,
): { fields: CatalogField[]; changed: boolean; full: boolean } {
  const fields = [...known];
  const positions = new Map(fields.map((field, index) => [field.name.toLowerCase(), index]));
  let changed = false;
  let full = false;
  for (const field of observed) {
    const index = positions.get(field.name.toLowerCase());
    if (index !== undefined) {
      const merged = mergeField(fields[index]!, field);
      if (merged !== fields[index]) changed = true;
      fields[index] = merged;
    } else if (fields.length < max) {
      positions.set(field.name.toLowerCase(), fields.length);
      fields.push(field);
      changed = true;
    } else full = true;
  }
  return { fields, changed, full };
}

function mergeField(a: CatalogField, b: CatalogField): CatalogField {
  const type = widenType(a.type, b.type);
  const keys = [...a.keys, ...b.keys.filter((key) => !a.keys.includes(key))].slice(0, spellingsMax);
  const nested = mergeFields(a.nested, b.nested, nestedMax);
  const open = a.open || b.open || nested.full;
  if (type === a.type && keys.length === a.keys.length && !nested.changed && open === a.open) return a;
  return { name: a.name, keys, type, nested: nested.fields, open };
}

/** Returns the field with this name, ignoring case. */
export function findField(fields: CatalogField[], name: string): CatalogField | undefined {
  const lower = name.toLowerCase();
  return fields.find((field) => field.name.toLowerCase() === lower);
}
