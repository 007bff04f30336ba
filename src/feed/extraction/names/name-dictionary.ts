import { readShippedNameTable } from '../../reference-data/name-table.ts';

export type NameKind = 'actor' | 'malware' | 'tool';
export type NamedEntity = { kind: NameKind; name: string; aliases: string[] };
/** What a key may mean, and whether the printed form needs a cue beside it. */
export type DictionaryEntry = { entities: NamedEntity[]; needsCue: boolean; printed: string };

/** Names by key: letters and digits alone, lower case, so that `Cobalt Strike` and `CobaltStrike` are one. */
export type NameDictionary = ReadonlyMap<string, DictionaryEntry>;

export const keyOf = (name: string): string =>
  /^[A-Za-z0-9]+$/.test(name) ? name.toLowerCase() : name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

let shipped: NameDictionary | undefined;

/** The names that come with the project, read at the first use. */
export function getShippedNames(): NameDictionary {
  shipped ??= parseNameTable(readShippedNameTable());
  return shipped;
}

/** Reads a table of names: kind, name, aliases joined by `|`; `!` before those that need a cue. */
export function parseNameTable(table: string): NameDictionary {
  const dictionary = new Map<string, DictionaryEntry>();
  for (const line of table.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [kind = '', name = '', aliases = ''] = line.split('\t');
    const all = [name, ...aliases.split('|').filter(Boolean)];
    const bare = all.map((form) => form.replace(/^!/, ''));
    const entity: NamedEntity = { kind: kind as NameKind, name: bare[0]!, aliases: bare.slice(1) };
    for (const [index, form] of all.entries())
      addForm(dictionary, { form, bare: bare[index]!, isMain: index === 0 }, entity);
  }
  return dictionary;
}

function addForm(
  dictionary: Map<string, DictionaryEntry>,
  { form, bare, isMain }: { form: string; bare: string; isMain: boolean },
  entity: NamedEntity,
): void {
  const key = keyOf(bare);
  const known = dictionary.get(key);
  if (!known) {
    dictionary.set(key, { entities: [entity], needsCue: form.startsWith('!'), printed: bare });
    return;
  }
  // An entity of that very name comes before one that only has it as an alias.
  if (isMain) known.entities.unshift(entity);
  else known.entities.push(entity);
}
