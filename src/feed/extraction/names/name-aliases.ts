import { nameKey, needsCue } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import { spansMax, type ExtractedName } from './extracted-name.ts';
import type { NameDictionary } from './dictionary/name-dictionary.ts';
import { isDistinctive, isTitled, type NameCandidate } from './name-candidates.ts';

/** Returns the name for which the text introduces a candidate as an alias: `Foobar (aka Barfoo)`. */
const findOwner = (owner: Span | undefined, found: Iterable<ExtractedName>): ExtractedName | undefined =>
  owner && [...found].find(({ spans }) => spans.some(({ end }) => owner.start <= end && end <= owner.end));

/** Returns the name right before a span that is introduced as its alias. */
export const findAliasOwner = (
  candidates: NameCandidate[],
  { start, end }: Span,
  found: Iterable<ExtractedName>,
): ExtractedName | undefined =>
  findOwner(candidates.find(({ span, owner }) => owner && start <= span.start && span.start < end)?.owner, found);

/** Adds a form of a name that the text introduces as an alias. */
export function addAlias(owner: ExtractedName, { word, span }: { word: string; span: Span }): void {
  const isKnown = [owner.name, ...owner.aliases].some((name) => nameKey(name) === nameKey(word));
  if (!isKnown) owner.aliases = [...owner.aliases, word];
  if (!owner.printed.includes(word)) owner.printed.push(word);
  if (owner.spans.length < spansMax) owner.spans.push(span);
}

/** Adds the unknown names that a text introduces as aliases of a name: `Foobar (also known as Barfoo)`. */
export function addStatedAliases(candidates: NameCandidate[], found: Map<string, ExtractedName>): void {
  const known = new Set(
    [...found.values()].flatMap(({ name, aliases, printed }) => [name, ...aliases, ...printed].map(nameKey)),
  );
  for (const { printed: word, span, owner } of candidates) {
    const name =
      !known.has(nameKey(word)) && (isDistinctive(word) || isTitled(word)) && findOwner(owner, found.values());
    if (name) addAlias(name, { word, span });
  }
}

/** Resolves an alias of several actors if the text mentions exactly one of them by another name. */
export function resolveAmbiguous(found: Map<string, ExtractedName>, dictionary: NameDictionary): void {
  for (const [key, name] of found) {
    if (!name.ambiguous) continue;
    const candidates = dictionary.get(nameKey(name.name))!.entities.filter(({ kind }) => kind === 'actor');
    const owners = [...found.values()].filter(
      (other) =>
        other.kind === 'actor' &&
        !other.ambiguous &&
        candidates.some((one) => nameKey(one.name) === nameKey(other.name)),
    );
    const [owner] = owners;
    if (owners.length !== 1 || !owner) continue;
    for (const word of name.printed) addAlias(owner, { word, span: name.spans[0]! });
    owner.spans = [...owner.spans, ...name.spans.slice(1)].slice(0, spansMax);
    found.delete(key);
  }
}

/** Merges a name into the one that the text introduces it for, wherever it occurs, although the lists keep the two apart. */
export function mergeStatedAliases(
  candidates: NameCandidate[],
  found: Map<string, ExtractedName>,
  isDesignation: (name: string) => boolean,
): void {
  for (const [key, name] of found) {
    if (name.ambiguous || name.printed.some(isDesignation)) continue;
    const others = [...found.values()].filter((other) => other !== name);
    const owners = name.spans.map((span) => findAliasOwner(candidates, span, others));
    const [owner] = owners;
    if (!owner || owners.some((one) => one !== owner)) continue;
    for (const word of [...name.printed, name.name]) addAlias(owner, { word, span: name.spans[0]! });
    found.delete(key);
  }
}

/** A word of a text. `continues` if only a space or a sign of a name separates the word from the previous one. */
export type Word = { text: string; key: string; start: number; end: number; continues: boolean };
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}_]*(?:[’'](?=s\b))?/gu;
// Scripts that join words and attach endings to foreign names: `攻撃グループLazarusは`.
const joiningScripts = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]`;
const joining = new RegExp(joiningScripts, 'v');
/** Characters of which the joining scripts are some, which a search finds faster. */
const nonLatin = /[\u0E00-\u0E7F\u1100-\u11FF\u2E80-\uFFFF]/;
const joinedWordPattern = new RegExp(
  String.raw`${joiningScripts}+|[[\p{L}\p{N}]--${joiningScripts}][[\p{L}\p{N}_]--${joiningScripts}]*`,
  'gv',
);
const gapMaxChars = 3;

/** Returns the words of a text in which names are looked for. */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  let lastEnd = 0;
  const pattern = nonLatin.test(text) && joining.test(text) ? joinedWordPattern : wordPattern;
  for (const word of text.match(pattern) ?? []) {
    // No letter or digit stands between two words.
    const start = text.indexOf(word, lastEnd);
    const continues = isNameGap(text, lastEnd, start);
    lastEnd = start + word.length;
    words.push({ text: word, key: nameKey(word), start, end: lastEnd, continues });
  }
  return words;
}

const glued = /^(\p{Lu}?\p{Ll}{4,}(?<=s|ion|[ae]nce|ing|ed|ment|ity|[aeo]ry|ure|view|ound))(\p{Lu}[\p{L}\p{N}]{3,})$/u;
const withInnerCapital = /[a-z]{3}[A-Z]/;

/**
 * Splits a known name from the noun or participle before it that the cell before it in a page ends with: `SharesFoobar` to `Shares` and `Foobar`. A
 * longer name that the dictionary has stays whole.
 */
export const splitGluedWords = (words: Word[], dictionary: NameDictionary): Word[] =>
  words.flatMap((word, index) => {
    const next = words[index + 1];
    const name = findGluedName([word.text, next?.continues ? next.text : ''], dictionary);
    if (name === undefined) return [word];
    const start = word.end - name.length;
    const before = word.text.slice(0, -name.length);
    return [
      { ...word, text: before, key: nameKey(before), end: start },
      { text: name, key: nameKey(name), start, end: word.end, continues: false },
    ];
  });

/** Returns the beginning of a known name at the end of a word, or undefined if the word is a name of its own. */
export function findGluedName([word, next]: [string, string], dictionary: NameDictionary): string | undefined {
  const [, before, name] = (withInnerCapital.test(word) && glued.exec(word)) || [];
  if (before === undefined || name === undefined || !needsCue(before) || dictionary.has(nameKey(word)))
    return undefined;
  const isKnown = [name, `${name} ${next}`].some((form) => dictionary.get(nameKey(form))?.needsCue === false);
  return isKnown || designation.test(name) ? name : undefined;
}
const designation = /^(?:APT|UNC|FIN|TA)\d{1,5}$/;

function isNameGap(text: string, start: number, end: number): boolean {
  if (end - start > gapMaxChars) return false;
  const gap = text.slice(start, end);
  return gap === ' ' || /^(?:[ \u00A0]|[-_./&]|’?'? ?)$/.test(gap);
}

/** Returns the key of the words from `from` to before `to`, joined. */
export function joinKeys(words: Word[], from: number, to: number): string {
  let joined = words[from]!.key;
  for (let at = from + 1; at < to; at += 1) joined += words[at]!.key;
  return joined;
}
