import { cleanName, nameKey } from '../name-forms.ts';
import type { NameRecord } from './merge-names.ts';

/** Number of shared names from which an actor of a later list is the one of an earlier list that has its name as an alias. */
const sharedMin = 4;

/**
 * Puts actors of a later list under the main name of the first known actor that has their main name as an alias and shares enough names with
 * them. Lists differ in which name is the main one: ATT&CK's Threat Group-3390 is APT27 in MISP galaxy, where several entries have the alias
 * APT27, so that the alias alone does not tell whose it is. Actors that are main names in both lists stay. Others that have the former main
 * name as an alias get the new one as well.
 */
export function joinKnownActors(records: NameRecord[], known: NameRecord[]): NameRecord[] {
  const actors = known.filter(isActor).map((record) => ({ name: record.name, keys: new Set(listKeys(record)) }));
  const mains = new Set(actors.map(({ name }) => keyOf(name)));
  const newMains = new Map<string, string>();
  for (const record of records) {
    const main = keyOf(record.name);
    if (!isActor(record) || mains.has(main)) continue;
    const keys = [...new Set(listKeys(record))];
    const same = actors.find(
      (actor) => actor.keys.has(main) && keys.filter((key) => actor.keys.has(key)).length >= sharedMin,
    );
    if (same) newMains.set(main, same.name);
  }
  return records.map((record) => {
    if (!isActor(record)) return record;
    const added = record.aliases.map((alias) => newMains.get(keyOf(alias))).filter((name) => name !== undefined);
    const aliases = [...new Set([...record.aliases, ...added])];
    const name = newMains.get(keyOf(record.name));
    return name === undefined ? { ...record, aliases } : { ...record, name, aliases: [record.name, ...aliases] };
  });
}

const isActor = ({ kind }: NameRecord): boolean => kind === 'actor';
const keyOf = (name: string): string => nameKey(cleanName(name));
const listKeys = ({ name, aliases }: NameRecord): string[] => [name, ...aliases].map(keyOf);
