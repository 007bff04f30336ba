/** A name of a list with its aliases. `id` is that of ATT&CK. */
export type NameRecord = {
  kind: 'actor' | 'malware' | 'tool';
  name: string;
  aliases: string[];
  id?: string | undefined;
};

/** The records that are one entity. */
export type NameEntry = {
  kind: NameRecord['kind'];
  /** Main name of each record, in source order. */
  mains: string[];
  /** All names by key. */
  forms: Map<string, string>;
  /** Ids of ATT&CK that lists have as aliases. */
  statedIds: Set<string>;
  /** The id and name of ATT&CK, and the keys of all names that ATT&CK lists. */
  attack: { id: string; name: string; keys: Set<string> } | undefined;
};

/** Returns the entries by each of their keys. */
export function groupByKeys(
  entries: NameEntry[],
  listKeys: (entry: NameEntry) => Iterable<string>,
): Map<string, NameEntry[]> {
  const found = new Map<string, NameEntry[]>();
  for (const entry of entries)
    for (const key of new Set(listKeys(entry))) {
      const known = found.get(key);
      if (known) known.push(entry);
      else found.set(key, [entry]);
    }
  return found;
}
