import { isName, isProperNoun, listNameParts, nameKey, needsCue } from '../../../reference-data/name-forms.ts';
import { readShippedNameTable } from '../../../reference-data/name-table.ts';

export type NameKind = 'actor' | 'malware' | 'tool';
export type NamedEntity = { kind: NameKind; name: string; aliases: string[] };
/** The entities that share a name key. `needsCue`: the name counts only with a cue beside it. `printed`: the form in the table. */
export type DictionaryEntry = { entities: NamedEntity[]; needsCue: boolean; printed: string };

/**
 * Entries by `nameKey`, so that `Cobalt Strike` and `CobaltStrike` are the same name. `heads` shows early that the words
 * of a text begin no name.
 */
export type NameDictionary = ReadonlyMap<string, DictionaryEntry> & { readonly heads: NameHeads };

let shipped: NameDictionary | undefined;

/** Returns the shipped names. Parsed once per process. */
export function getShippedNames(): NameDictionary {
  shipped ??= parseNameTable(readShippedNameTable());
  return shipped;
}

/** Parses a name table. Columns: kind, name, aliases joined by `|`. A name with a leading `!` needs a cue, and so does a proper noun of a table that was made earlier. */
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
    for (const part of listNameParts(entity.name).slice(1))
      addForm(dictionary, { form: needsCue(part) ? `!${part}` : part, bare: part, isMain: false }, entity);
  }
  addBareForms(dictionary);
  return Object.assign(dictionary, { heads: listNameHeads(dictionary.keys()) });
}

const withKind = /^(\S{5,}) (?:Stealer|Infostealer|RAT|Loader)$/;

/** Adds the names of software without the noun for their kind, which count with a cue: `Foobar` for `Foobar Stealer`. */
function addBareForms(dictionary: Map<string, DictionaryEntry>): void {
  for (const entity of new Set([...dictionary.values()].flatMap(({ entities }) => entities)))
    for (const form of entity.kind === 'actor' ? [] : [entity.name, ...entity.aliases]) {
      const bare = withKind.exec(form)?.[1];
      const isFree = bare !== undefined && isName(bare) && !needsCue(bare) && !dictionary.has(nameKey(bare));
      if (isFree) dictionary.set(nameKey(bare), { entities: [entity], needsCue: true, printed: form });
    }
}

function addForm(
  dictionary: Map<string, DictionaryEntry>,
  { form, bare, isMain }: { form: string; bare: string; isMain: boolean },
  entity: NamedEntity,
): void {
  const key = nameKey(bare);
  const known = dictionary.get(key);
  if (!known) {
    dictionary.set(key, { entities: [entity], needsCue: form.startsWith('!') || isProperNoun(bare), printed: bare });
    return;
  }
  // Entities with this main name precede those with this alias.
  if (isMain) known.entities.unshift(entity);
  else known.entities.push(entity);
}

/** How many characters of a key its head has. */
export const headChars = 8;
const sizeBits = 17;

/** The slots of the heads of some keys: 1 if a key has that head. */
type NameHeads = Uint8Array;

/** Returns the heads of keys. They show without a new text that words begin none of the keys. */
function listNameHeads(keys: Iterable<string>): NameHeads {
  const heads = new Uint8Array(1 << sizeBits);
  for (const key of keys) heads[findSlot([{ key }], 0, 1)] = 1;
  return heads;
}

/** Returns whether a key may have the head of the words from `from` to before `to`, joined. A wrong yes is rare, and there is no wrong no. */
export const mayBeginName = (heads: NameHeads, words: readonly { key: string }[], from: number, to: number): boolean =>
  heads[findSlot(words, from, to)] === 1;

/** Hashes the first characters (FNV-1a). */
function findSlot(words: readonly { key: string }[], from: number, to: number): number {
  let hash = 0x811c9dc5;
  let length = 0;
  for (let index = from; index < to; index += 1) {
    const { key } = words[index]!;
    for (let at = 0; at < key.length && length < headChars; at += 1, length += 1)
      hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> sizeBits)) & ((1 << sizeBits) - 1);
}
