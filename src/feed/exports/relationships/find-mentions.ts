import { isGang, isInActorList } from '../../extraction/names/name-cues.ts';
import { nameKey, needsCue } from '../../reference-data/name-forms.ts';
import type { Entity, EntityForms } from './entity-forms.ts';

export type Mention = Entity & { start: number; end: number };
export type MentionFinder = (sentence: string) => Mention[];

const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}_]*/gu;
const joint = /^(?:[ \u00A0]|[-_./&]|’?'? ?| & )$/;
const wordsMax = 5;
const malwareOrActor =
  /^[ -](?:ransomware|malware|trojan|backdoor|rat|stealer|loader|botnet|worm|wiper|implant|group|gang|apt|actors?|operators?|affiliates?)\b/i;

/** A numbered designation of common words: `Storm-1234`. */
const designation = /^\p{L}[\p{L}-]*[ -]?\d{2}/u;

/** Returns a function that finds the mentions of entities in a sentence, in order and without overlap. The longest form wins. */
export function createMentionFinder(entities: EntityForms[]): MentionFinder {
  const byKey = new Map<string, Entity & { isEveryday: boolean; isProper: boolean }>();
  const people = new Map<string, Entity>();
  for (const { kind, name, forms } of entities)
    for (const form of forms) {
      const key = nameKey(form);
      const isName = kind === 'actor' || kind === 'malware' || kind === 'tool';
      if (kind === 'actor' && byKey.get(key)?.kind === 'malware') people.set(key, { kind, name });
      if (key === '' || byKey.has(key)) continue;
      byKey.set(key, {
        kind,
        name,
        isEveryday: isName && needsCue(form) && !designation.test(form),
        isProper: kind !== 'sector',
      });
    }
  return (sentence) => {
    const isRow = /[,;|\t"].*[,;|\t"]/.test(sentence);
    const words = [...sentence.matchAll(wordPattern)].map(({ 0: text, index }) => ({
      key: nameKey(text),
      start: index,
      end: index + text.length,
    }));
    const mentions: Mention[] = [];
    for (let at = 0; at < words.length; at += 1) {
      const found = longestMatch(sentence, words, at, byKey);
      if (!found) continue;
      const { entity, start, end, length } = found;
      if (!isMention(sentence, { start, end, isRow, ...entity })) continue;
      // `The Foobar gang` is not the ransomware of the same name.
      const gang = people.get(nameKey(sentence.slice(start, end)));
      const { kind, name } = gang && isPeople(sentence, { start, end }) ? gang : entity;
      mentions.push({ kind, name, start, end });
      at += length - 1;
    }
    return mentions;
  };
}

const isPeople = (sentence: string, span: { start: number; end: number }): boolean =>
  isGang(sentence, span) || isInActorList(sentence, span);

type Word = { key: string; start: number; end: number };

function longestMatch<T>(
  text: string,
  words: Word[],
  at: number,
  byKey: ReadonlyMap<string, T>,
): { entity: T; start: number; end: number; length: number } | undefined {
  const { start } = words[at]!;
  let key = '';
  let found: { entity: T; start: number; end: number; length: number } | undefined;
  for (let length = 1; length <= wordsMax && at + length <= words.length; length += 1) {
    const word = words[at + length - 1]!;
    if (length > 1 && !joint.test(text.slice(words[at + length - 2]!.end, word.start))) break;
    key += word.key;
    const entity = byKey.get(key);
    if (entity) found = { entity, start, end: word.end, length };
  }
  return found;
}

type Candidate = { start: number; end: number; isRow: boolean; isEveryday: boolean; isProper: boolean };

/**
 * Returns whether a match is a name here: not part of an address or path, and in prose with a capital or digit. An everyday word counts inside a
 * sentence, or before `ransomware`, `group` and similar words. Several words with a capital each, such as `Stone Panda`, count anywhere.
 */
function isMention(text: string, { start, end, isRow, isEveryday, isProper }: Candidate): boolean {
  const before = text.slice(Math.max(0, start - 2), start);
  if (/[\\/@#]$/.test(before) || /[\w\]][.-]$/.test(before) !== isMalpediaPrefix(text, start)) return false;
  if (/^(?:[\\/@]|\[?\.\]?[a-z0-9])/.test(text.slice(end, end + 4))) return false;
  const printed = text.slice(start, end);
  const isMarked = /[\p{Lu}\p{N}]/u.test(printed);
  if (!isProper) return true;
  const isTitled = /^\p{Lu}\S+(?: \p{Lu}\S+)+$/u.test(printed);
  if (isEveryday && (!isMarked || (start < 2 && !isTitled && !malwareOrActor.test(text.slice(end, end + 16)))))
    return false;
  // `us` is not a country.
  return isMarked
    ? printed.length > 2 || printed === printed.toUpperCase()
    : isRow && !isEveryday && printed.length > 2;
}

/** `win.emotet` is Emotet. */
const isMalpediaPrefix = (text: string, start: number): boolean =>
  /(?:^|[^\w.-])(?:win|elf|apk|osx|js|ps1|jar|py|php|vbs)\.$/.test(text.slice(Math.max(0, start - 5), start));

const naming =
  '(?:aka|a\\.k\\.a\\.?|also|formerly|previously|otherwise|tracked|known|monitored|identified|dubbed|called|(?:which|that) \\p{Lu}[\\p{L}\\d ]{1,30} (?:tracks|calls|names|dubbed))';
/** The words between a name and its first alias: `Foobar (also known as Barfoo`, `Foobar, which Example Labs tracks as Barfoo`. */
const firstAlias = new RegExp(String.raw`^["”’']?,? ?[([]?${naming}\b(?: [\p{L}\d-]+){0,6}? ["“‘']?$`, 'u');
/** The words between two aliases: `Barfoo and tracked by Example Labs as`, `Barfoo, Bazbar`. */
const furtherAlias = new RegExp(
  String.raw`^["”’']?(?:,|\/|,? (?:and|or))(?: ${naming}\b(?: [\p{L}\d-]+){0,6}?)? ?["“‘']?$`,
  'u',
);

/** Returns mentions without the names that a sentence introduces as aliases of the name before them, unless they are the same entity. */
export function withoutAliases<M extends Mention>(sentence: string, mentions: M[]): M[] {
  let list: 'bracketed' | 'open' | undefined;
  return mentions.filter((mention, index) => {
    const previous = mentions[index - 1];
    const gap = previous?.kind === mention.kind ? sentence.slice(previous.end, mention.start) : undefined;
    if (gap !== undefined && firstAlias.test(gap)) list = /[([]/.test(gap) ? 'bracketed' : 'open';
    else if (gap === undefined || !continuesAliases(gap, list)) list = undefined;
    return list === undefined || mention.name === previous!.name;
  });
}

/** Outside brackets, a name after `and` is another subject: `Foobar, also known as Barfoo, and Bazbar attacked`. */
const continuesAliases = (gap: string, list: 'bracketed' | 'open' | undefined): boolean =>
  list !== undefined && furtherAlias.test(gap) && (list === 'bracketed' || hasNaming.test(gap));
const hasNaming = new RegExp(String.raw`\b${naming}\b`, 'u');
