import type { Span } from '../text/stored-text.ts';
import { isGang, isInActorList, isMalwareGang } from './name-cues.ts';
import type { DictionaryEntry, NameKind } from './name-dictionary.ts';

/** A name in a text, with the kind that the words beside it suggest. */
export type NameMention = {
  entry: DictionaryEntry | undefined;
  word: string;
  span: Span;
  hint: NameKind | undefined;
  cued: boolean;
  /** An everyday word inside a longer proper name: `Foobar Health`. */
  isPart: boolean;
};

/** Per entry, the number of mentions whose words suggest an actor, and of those whose words suggest software. */
export type Leanings = Map<DictionaryEntry, { actor: number; software: number }>;

const isSoftware = ({ entities }: DictionaryEntry): boolean => entities.every(({ kind }) => kind === 'malware');

export function countLeanings(text: string, mentions: NameMention[]): Leanings {
  const leanings: Leanings = new Map();
  for (const { entry, hint, span } of mentions) {
    if (!entry) continue;
    const leaning = leanings.get(entry) ?? { actor: 0, software: 0 };
    leanings.set(entry, leaning);
    const isPeople = isInActorList(text, span) || isGang(text, span);
    const kind = isSoftware(entry) && isPeople ? (isMalwareGang(text, span) ? undefined : 'actor') : hint;
    if (kind) leaning[kind === 'actor' ? 'actor' : 'software'] += 1;
  }
  return leanings;
}

/**
 * Checks whether the name of malware stands for the people behind it: `beside` the malware (`the Qilin ransomware gang`), or `alone` (`the
 * Qilin gang`, a list of actors, or a text that speaks of the people only).
 */
export function isOfPeople(
  text: string,
  { entry, word, span, hint }: NameMention,
  leanings: Leanings,
): 'alone' | 'beside' | undefined {
  if (!entry || entry.entities.some(({ kind }) => kind === 'tool')) return undefined;
  if (!isSoftware(entry)) return isGang(text, span) && isMalwareGang(text, span) ? 'beside' : undefined;
  if (isInActorList(text, span)) return 'alone';
  if (isGang(text, span)) return isMalwareGang(text, span) || / ransomware$/i.test(word) ? 'beside' : 'alone';
  const { actor, software } = leanings.get(entry)!;
  return hint === undefined && actor > 0 && software === 0 ? 'alone' : undefined;
}

/** Decides between actor and software for a shared name, by the words beside it here or elsewhere in the text. */
export function chooseKind(entry: DictionaryEntry, mention: NameMention, leanings: Leanings): 'actor' | 'software' {
  const kinds = new Set(entry.entities.map(({ kind }) => (kind === 'actor' ? 'actor' : 'software')));
  if (kinds.size === 1) return kinds.has('actor') ? 'actor' : 'software';
  if (mention.hint) return mention.hint === 'actor' ? 'actor' : 'software';
  const { actor, software } = leanings.get(entry)!;
  if (actor !== software) return actor > software ? 'actor' : 'software';
  // A software entry in lower case without aliases is the leak site of a group.
  const isLeakSite = entry.entities
    .filter(({ kind }) => kind !== 'actor')
    .every(({ name, aliases }) => aliases.length === 0 && name === name.toLowerCase());
  // A list names some tools for the actor that made them: Turla.
  const isOfMaker = entry.entities.every(
    ({ kind, aliases }) => kind === 'tool' || (kind === 'actor' && aliases.length > 0),
  );
  return isLeakSite || isOfMaker || entry.entities[0]!.kind === 'actor' ? 'actor' : 'software';
}
