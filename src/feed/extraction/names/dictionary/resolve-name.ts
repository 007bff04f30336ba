import { findAttackName } from '../../../reference-data/attack.ts';
import { cleanName, listNameParts, nameKey, needsCue } from '../../../reference-data/name-forms.ts';
import {
  getShippedNames,
  type DictionaryEntry,
  type NameDictionary,
  type NamedEntity,
  type NameKind,
} from './name-dictionary.ts';

// Malpedia prefixes a family with its platform: `win.emotet`.
const platformPrefix = /^(?:win|elf|apk|osx|js|ps1|jar|py|php|vbs|symbian|asp)\.(?=[a-z0-9_]+$)/;
const genericEnd = /\s+(?:group|team|gang|apt|malware|ransomware|stealer|rat|trojan|backdoor|loader|botnet)$/i;
const genericStart = /^(?:the|operation)\s+/i;
/** Kinds with which a list may have the name of malware that a source uses alone: `Lumma`, `win.lumma`. */
const kinds = ['stealer', 'rat', 'ransomware', 'loader', 'bot', 'botnet', 'malware', 'trojan', 'backdoor', 'c2'];

/** Removes what sources add to a name: the id of ATT&CK (`Cobalt Strike - S0154`, `APT28 (G0007)`), the kind in brackets, the platform of Malpedia. */
export const plainName = (name: string): string =>
  cleanName(name.replace(/ (?:- [GSC]\d{4}|\([GSC]\d{4}\)|\[[GSC]\d{4}\])$/i, '').replace(platformPrefix, ''));

/**
 * Returns the entity that a source calls `name`, or undefined if no list has it or several unrelated ones do. `aliases` of the source decide
 * between entities that share the name, and an id of ATT&CK stands for the name that ATT&CK gives it.
 */
export function resolveName(
  kind: NameKind,
  name: string,
  {
    aliases = [],
    dictionary = getShippedNames(),
  }: { aliases?: string[]; dictionary?: NameDictionary | undefined } = {},
): NamedEntity | undefined {
  const plain = plainName(name);
  const listEntities = (form: string): NamedEntity[] =>
    dictionary.get(nameKey(form))?.entities.filter((entity) => isActor(entity.kind) === isActor(kind)) ?? [];
  for (const form of [plain, plain.replace(genericEnd, ''), plain.replace(genericStart, '')]) {
    const found = chooseEntity(listEntities(form), nameKey(form), aliases);
    if (found) return findByNumber(found, dictionary);
  }
  const attack = findAttackName(name);
  if (attack && attack.isGroup === isActor(kind) && nameKey(attack.name) !== nameKey(plain))
    return resolveName(kind, attack.name, { aliases, dictionary });
  if (isActor(kind) || dictionary.has(nameKey(plain)) || needsCue(plain)) return undefined;
  const withKind = distinctEntities(kinds.flatMap((word) => listEntities(`${plain} ${word}`)));
  return withKind.length === 1 ? withKind[0] : undefined;
}

/** Returns the entity of another list that has the number in the name of an entity: APT32 for `海莲花 - APT-C-00`. */
function findByNumber(entity: NamedEntity, dictionary: NameDictionary): NamedEntity {
  const number = listNameParts(entity.name)[2];
  const same = number ? distinctEntities(dictionary.get(nameKey(number))?.entities ?? []) : [];
  return same.length === 1 ? same[0]! : entity;
}

/** Number of shared names from which two lists' entries that name each other are one entity. */
const sharedMin = 4;

/**
 * Returns the canonical names under which items may have a name: that of its entity, and those of entries of other lists for the same entity.
 * Empty if no list has the name.
 */
export function listCanonicalNames(kind: NameKind, name: string): string[] {
  const entity = resolveName(kind, name);
  if (!entity) return [];
  const dictionary = getShippedNames();
  const keys = new Set([entity.name, ...entity.aliases].map(nameKey));
  const others = new Set([...keys].flatMap((key) => dictionary.get(key)?.entities ?? []));
  const isLinked = (other: NamedEntity): boolean =>
    isActor(other.kind) === isActor(kind) &&
    isSame(entity, other) &&
    [other.name, ...other.aliases].filter((alias) => keys.has(nameKey(alias))).length >= sharedMin;
  return [...new Set([entity.name, ...[...others].filter(isLinked).map((other) => other.name)])];
}

const isActor = (kind: NameKind): boolean => kind === 'actor';

function chooseEntity(entities: NamedEntity[], key: string, aliases: string[]): NamedEntity | undefined {
  const distinct = distinctEntities(entities);
  if (distinct.length <= 1 || nameKey(distinct[0]!.name) === key) return distinct[0];
  const stated = new Set(aliases.map(nameKey));
  const scored = distinct.map((entity) => ({
    entity,
    shared: [entity.name, ...entity.aliases].filter((alias) => stated.has(nameKey(alias))).length,
  }));
  const [best, next] = scored.toSorted((a, b) => b.shared - a.shared);
  return best!.shared > next!.shared ? best!.entity : undefined;
}

/**
 * Removes entities that are another list's name for an earlier one: its main name is an alias of the other, or the other way round, directly
 * or through further entities that share the name. Of the same entity, one with aliases is kept.
 */
export function distinctEntities(entities: NamedEntity[]): NamedEntity[] {
  const groups: NamedEntity[][] = [];
  for (const entity of entities) {
    const same = groups.filter((group) => group.some((other) => isSame(entity, other)));
    const [first, ...others] = same;
    if (!first) groups.push([entity]);
    else {
      first.push(entity, ...others.flat());
      for (const other of others) groups.splice(groups.indexOf(other), 1);
    }
  }
  return groups.map((group) => group.find(({ aliases }) => aliases.length > 0) ?? group[0]!);
}

const isSame = (one: NamedEntity, other: NamedEntity): boolean =>
  listNameParts(other.name).some((name) => hasAlias(one, name)) ||
  listNameParts(one.name).some((name) => hasAlias(other, name)) ||
  isNumberOf(one, other) ||
  isNumberOf(other, one);
/** A publisher's own name and number for an actor (`沙虫 - APT-C-13`) of which every alias belongs to the other. */
const isNumberOf = ({ name, aliases }: NamedEntity, other: NamedEntity): boolean =>
  listNameParts(name).length > 1 &&
  aliases.length > 0 &&
  aliases.every((alias) => nameKey(alias) === nameKey(other.name) || hasAlias(other, alias));
const hasAlias = ({ aliases }: NamedEntity, name: string): boolean =>
  aliases.some((alias) => nameKey(alias) === nameKey(name));

export type ActorLookup = (entry: DictionaryEntry) => NamedEntity[];

/** Returns a function that lists the distinct actors of an entry and compares their aliases once. */
export function createActorLookup(): ActorLookup {
  const known = new Map<DictionaryEntry, NamedEntity[]>();
  return (entry) => {
    let actors = known.get(entry);
    if (!actors) known.set(entry, (actors = distinctEntities(entry.entities.filter(({ kind }) => kind === 'actor'))));
    return actors;
  };
}

const tagMaxChars = 60;

/** Returns whether a canonical name has several words, such as `Cobalt Strike`, which no everyday word is however the tag is written. */
const isPhrase = (tag: string, name: string): boolean => /\s/.test(name) && nameKey(tag) === nameKey(name);

const prefix = /^(?:malware|family|malware[-_ ]family|actor|threat[-_ ]actor|tool|ransomware)\s*[:=]\s*/i;

/**
 * Returns the malware, actor or tool that a free tag names, such as `emotet` or `malware:Emotet`. Undefined for a tag that no list has, that is
 * also an everyday word, or that several have.
 */
export function findTaggedName(
  tag: string,
  dictionary: NameDictionary = getShippedNames(),
): { kind: NameKind; name: string } | undefined {
  if (tag.length > tagMaxChars) return undefined;
  const name = tag
    .trim()
    .replace(prefix, '')
    .replace(/^"(.*)"$/, '$1');
  const entry = dictionary.get(nameKey(name));
  const [entity, ...others] = distinctEntities(entry?.entities ?? []);
  if (!entry || !entity || others.length > 0) return undefined;
  const isWord = entry.needsCue || needsCue(name);
  return isWord && !isPhrase(name, entity.name) ? undefined : { kind: entity.kind, name };
}
