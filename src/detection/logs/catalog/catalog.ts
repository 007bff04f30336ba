import { inferType, widenType, type ColumnType } from './column-types.ts';

/**
 * A key that events of a dataset have. `keys` are its spellings (the engine does not tell `User` from `user`), `nested` the keys of the
 * objects it holds; `open` says that there are more of them than are listed.
 */
export type CatalogField = { name: string; keys: string[]; type: ColumnType; nested: CatalogField[]; open: boolean };

const columnsMax = 1000;
const nestedMax = 100;
const depthMax = 5;
const keyCharsMax = 200;
const spellingsMax = 8;

/** Names that every dataset has; an event's own key of that name is found in `_event` alone. */
export const systemColumns = ['_id', '_time', '_ingested', '_event'] as const;
const reserved: ReadonlySet<string> = new Set(systemColumns);

type Index = { list: CatalogField[]; byKey: Map<string, CatalogField>; byName: Map<string, CatalogField> };

/** Observes events of one batch and keeps what it saw, so that a batch costs one look at the catalogue of its dataset. */
export function createFieldObserver(): {
  observe: (event: Record<string, unknown>) => void;
  seen: () => CatalogField[];
} {
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
      const held = value[key];
      field.type = widenType(field.type, inferType(held));
      if (held !== null && typeof held === 'object' && !Array.isArray(held)) {
        const inner = depth < depthMax && observe(indexOf(field), held as Record<string, unknown>, depth + 1);
        if (!inner) field.open = true;
      }
    }
    return complete;
  };
  return {
    observe: (event) => void observe(top, event, 0),
    seen: () => top.list.filter((field) => !reserved.has(field.name.toLowerCase())),
  };
}

function addKey(index: Index, key: string, max: number): CatalogField | undefined {
  // PostgreSQL holds neither of the two, and the engine no name without a character.
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

/** Adds what a batch saw to a dataset's fields. Answers new lists; `changed` where anything grew or widened. */
export function mergeFields(
  known: CatalogField[],
  seen: CatalogField[],
  max = columnsMax,
): { fields: CatalogField[]; changed: boolean; full: boolean } {
  const fields = [...known];
  const at = new Map(fields.map((field, index) => [field.name.toLowerCase(), index]));
  let changed = false;
  let full = false;
  for (const field of seen) {
    const index = at.get(field.name.toLowerCase());
    if (index !== undefined) {
      const merged = mergeField(fields[index]!, field);
      if (merged !== fields[index]) changed = true;
      fields[index] = merged;
    } else if (fields.length < max) {
      at.set(field.name.toLowerCase(), fields.length);
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

/** The field of that name, case aside. */
export function findField(fields: CatalogField[], name: string): CatalogField | undefined {
  const lower = name.toLowerCase();
  return fields.find((field) => field.name.toLowerCase() === lower);
}
