import type { CatalogField, FieldsByDataset } from '../../log-store/catalog/catalog.ts';
import { keysOf, parseSteps } from '../parse-tree/json-paths.ts';

/**
 * How the events of a query's datasets spell the keys in its JSON paths, by the key in lower case. Has only keys with a spelling that differs
 * from the query's. `any`: there are more spellings than `known` lists.
 */
export type KeySpellings = Record<string, { known: string[]; any: boolean }>;

/** Returns the spellings that the JSON paths of a query lack, or undefined if they lack none. */
export function findKeySpellings(paths: readonly string[], fields: FieldsByDataset): KeySpellings | undefined {
  const asked = new Set(paths.flatMap((path) => keysOf(parseSteps(path) ?? [])));
  if (asked.size === 0) return undefined;
  const found = new Map<string, { known: Set<string>; any: boolean }>(
    [...asked].map((key) => [key.toLowerCase(), { known: new Set(), any: false }]),
  );
  for (const list of fields.values()) addSpellings(list, found);
  const lacking = [...found].filter(
    ([name, { known, any }]) => any || [...asked].some((key) => key.toLowerCase() === name && hasOther(known, key)),
  );
  if (lacking.length === 0) return undefined;
  return Object.fromEntries(lacking.map(([name, { known, any }]) => [name, { known: [...known], any }]));
}

const hasOther = (known: ReadonlySet<string>, key: string): boolean => [...known].some((spelling) => spelling !== key);

function addSpellings(fields: CatalogField[], found: Map<string, { known: Set<string>; any: boolean }>): void {
  for (const { name, keys, anySpelling, nested } of fields) {
    const entry = found.get(name.toLowerCase());
    if (entry) {
      for (const key of keys) entry.known.add(key);
      if (anySpelling) entry.any = true;
    }
    addSpellings(nested, found);
  }
}
