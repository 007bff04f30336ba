import type { DictionaryEntry, NameKind, NamedEntity } from './dictionary/name-dictionary.ts';
import { isGang, isInActorList, isMalwareGang, isFlawed } from './name-cues.ts';
import type { Span } from '../text/stored-text.ts';
import { nameKey } from '../../reference-data/name-forms.ts';

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

/**
 * How many mentions of an entry stand beside words that suggest an actor, and how many beside words that suggest software.
 * `isStatedActor`: the text introduces it as an actor, rather than only speaking of its operators. `isRansomware`: a mention calls it
 * ransomware, so the same name may stand for the people and for the malware.
 */
type Leaning = { actor: number; software: number; isStatedActor: boolean; isRansomware: boolean };
export type Leanings = Map<DictionaryEntry, Leaning>;
/** By name key, how often a text introduces the name as either kind: `a group named Foobar`. */
export type StatedKinds = ReadonlyMap<string, { actor: number; software: number }>;

const isSoftware = ({ entities }: DictionaryEntry): boolean => entities.every(({ kind }) => kind === 'malware');
/** A statement outweighs a word that happens to stand beside the name. */
const statementWeight = 2;

/** Malware has operators without being a group: `Foobar’s operators`. */
const hasMakers = /^[’']s (?:operators?|developers?|authors?|creators?)\b/i;

export function countLeanings(text: string, mentions: NameMention[], stated: StatedKinds): Leanings {
  const leanings: Leanings = new Map();
  for (const { entry, hint, span, word } of mentions) {
    if (!entry) continue;
    let leaning = leanings.get(entry);
    if (!leaning) {
      const { actor, software } = stated.get(nameKey(word)) ?? { actor: 0, software: 0 };
      leaning = {
        actor: actor * statementWeight,
        software: software * statementWeight,
        isStatedActor: actor > software,
        isRansomware: false,
      };
      leanings.set(entry, leaning);
    }
    const isOfMalware = isMalwareGang(text, span);
    leaning.isRansomware ||= isOfMalware;
    const isPeople = isInActorList(text, span) || isGang(text, span);
    const isOnlyPeople = isPeople
      ? !isOfMalware
      : hint === 'actor' && !hasMakers.test(text.slice(span.end, span.end + 16));
    const kind =
      isSoftware(entry) && (isPeople || hint === 'actor')
        ? isOnlyPeople
          ? 'actor'
          : undefined
        : isPeople && isOnlyPeople
          ? 'actor'
          : hint;
    if (kind) leaning[kind === 'actor' ? 'actor' : 'software'] += 1;
  }
  return leanings;
}

/**
 * Returns how the name of malware stands for the people behind it: `beside` the malware (`the Qilin ransomware gang`), or `alone` (`the
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
  const { actor, software, isStatedActor, isRansomware } = leanings.get(entry)!;
  const isMostlyActor = hint === 'malware' ? software <= 1 && actor > statementWeight : actor > 2 * software;
  if (!isMostlyActor || (hint === 'actor' && (software > 0 || !isStatedActor))) return undefined;
  return isRansomware ? 'beside' : 'alone';
}

/** Returns whether a text introduces a name as software, and never as an actor, although the lists have only an actor with that name. */
export function isStatedSoftware(
  { entry, word }: NameMention,
  { leanings, stated }: { leanings: Leanings; stated: StatedKinds },
): boolean {
  const { actor, software } = stated.get(nameKey(word)) ?? { actor: 0, software: 0 };
  return (
    software > 0 &&
    actor === 0 &&
    entry?.entities.every(({ kind }) => kind === 'actor') === true &&
    leanings.get(entry)!.actor === 0
  );
}

/** Decides between actor and software for a shared name, by what the text says of it everywhere. */
export function chooseKind(entry: DictionaryEntry, mention: NameMention, leanings: Leanings): 'actor' | 'software' {
  const kinds = new Set(entry.entities.map(({ kind }) => (kind === 'actor' ? 'actor' : 'software')));
  if (kinds.size === 1) return kinds.has('actor') ? 'actor' : 'software';
  const { actor, software, isRansomware } = leanings.get(entry)!;
  if (mention.hint && isRansomware) return mention.hint === 'actor' ? 'actor' : 'software';
  if (actor !== software) return actor > software ? 'actor' : 'software';
  // A software entry without aliases in lower case is the leak site of a group, and one with the name of a group is that group's.
  const isOfGroup = entry.entities
    .filter(({ kind }) => kind !== 'actor')
    .every(
      ({ name, aliases }) => aliases.length === 0 && (name === name.toLowerCase() || entry.entities.some(hasAliases)),
    );
  // A list names some tools for the actor that made them: Turla.
  const isOfMaker = entry.entities.every(
    ({ kind, aliases }) => kind === 'tool' || (kind === 'actor' && aliases.length > 0),
  );
  if (isOfGroup || isOfMaker) return 'actor';
  if (mention.hint) return mention.hint === 'actor' ? 'actor' : 'software';
  return entry.entities[0]!.kind === 'actor' ? 'actor' : 'software';
}

const hasAliases = ({ kind, aliases }: NamedEntity): boolean => kind === 'actor' && aliases.length > 0;

const listSeparator =
  /^ ?(?:[,/&([]|["“”’']|and |or |aka |und |sowie |et |y |e |ed |o |ou |oder |S\d{4}[\])]| |\]|\)){1,9}$/;

/** Marks names next to a cued name in a list or in brackets as cued: `Emotet, Royal and Play`. */
export function cueNeighbours(text: string, mentions: NameMention[]): void {
  const link = (from: NameMention, to: NameMention, gap: string): void => {
    if (!from.cued || to.cued || to.isPart || !/^\p{Lu}/u.test(to.word)) return;
    to.cued = gap === ' ' ? sharesEntity(from, to) : listSeparator.test(gap);
  };
  for (const [index, mention] of mentions.entries()) {
    const last = mentions[index - 1];
    if (last) link(last, mention, text.slice(last.span.end, mention.span.start).slice(0, 40));
  }
  for (let index = mentions.length - 2; index >= 0; index -= 1) {
    const [mention, next] = [mentions[index]!, mentions[index + 1]!];
    link(next, mention, text.slice(mention.span.end, next.span.start).slice(0, 40));
  }
}

/** Returns the tools of which the text mentions a weakness: products of the victims rather than tools of the attackers. */
export const listFlawedTools = (text: string, mentions: NameMention[]): Set<NamedEntity> =>
  new Set(
    mentions.flatMap(({ entry, span }) =>
      entry?.entities.every(({ kind }) => kind === 'tool') && isFlawed(text, span) ? entry.entities : [],
    ),
  );

/** Returns whether two mentions may be of one entity. */
export const sharesEntity = (one: NameMention, other: NameMention): boolean =>
  one.entry?.entities.some((entity) => other.entry?.entities.includes(entity)) === true;
