import cues from '../lexicon/name-cues.json' with { type: 'json' };
import { compilePhrases } from '../lexicon/phrases.ts';
import { isName, isRegion, nameKey, needsCue } from '../../reference-data/name-forms.ts';
import { hash, toFeature } from '../classifier/linear-model.ts';
import { findMatches } from '../text/find-matches.ts';
import { findSentences } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import type { NameDictionary } from './dictionary/name-dictionary.ts';
import { isGenericName } from './generic-names.ts';

/**
 * Capitalized words that may be a name. `features`: those by which the classifier decides what kind of name they are. Undefined for everyday
 * words, which are at most an alias. `owner`: where the name ends for which the words before introduce this one as an alias.
 */
export type NameCandidate = { printed: string; span: Span; features: number[] | undefined; owner: Span | undefined };

const scripts = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`;
const unspaced = new RegExp(`[${scripts}]`, 'u');
const classes = Object.keys(cues) as (keyof typeof cues)[];

const isJoined = (phrase: string): boolean => unspaced.test(phrase);
const isPhrase = (phrase: string): boolean => /[ .]/.test(phrase) && !isJoined(phrase);
const isWord = (phrase: string): boolean => !/[ .]/.test(phrase) && !isJoined(phrase);

/** Returns a pattern with a group for each class: its cues of one form, in all languages. */
const compileClasses = (isForm: (phrase: string) => boolean, script?: 'unspaced'): string =>
  classes
    .map((name) => cues[name].filter(isForm))
    .map((phrases) => `(${phrases.length > 0 ? compilePhrases(phrases, { script }).source : '(?!)'})`)
    .join('|');

const word = String.raw`(?![${scripts}])[\p{L}\p{N}](?:(?![${scripts}])[\p{L}\p{N}_$-])*`;
/** A phrase of one of the classes, a word, or a sign. */
const token = new RegExp(`(?i:${compileClasses(isPhrase)})|(${word})|\\S`, 'gu');
const joinedCues = classes.flatMap((name) => cues[name].filter(isJoined));
/** A cue of a script without spaces, the words up to the next one, or a word or sign of another script. */
const joinedToken = new RegExp(
  `(?i:${compileClasses(isJoined, 'unspaced')})|(${word}|(?:(?!${joinedCues.join('|')})[${scripts}])+)|\\S`,
  'gu',
);
const single = new RegExp(`^(?:${compileClasses(isWord)})$`, 'iu');

/** Returns the class of the first group of a match, or an empty string. */
const classOf = (match: RegExpExecArray | null): string => {
  const index = match ? match.findIndex((group, at) => at > 0 && group !== undefined) - 1 : -1;
  return classes[index] ?? '';
};

/** `form`: the class of a cue, or the word in lower case. `listed`: the kind of a listed name. */
type Token = { text: string; start: number; end: number; form: string; isName: boolean; listed: string };

/** `classByWord`: the classes of words that the text used before. */
function readTokens(sentence: string, dictionary: NameDictionary, classByWord: Map<string, string>): Token[] {
  return findMatches(unspaced.test(sentence) ? joinedToken : token, sentence).map((match) => {
    const [text] = match;
    const isLetters = match[classes.length + 1] !== undefined;
    let cue = isLetters ? classByWord.get(text) : classOf(match);
    if (cue === undefined) classByWord.set(text, (cue = classOf(single.exec(text))));
    const isName = isLetters && cue === '' && isNameWord(sentence, match.index, text);
    return {
      text,
      start: match.index,
      end: match.index + text.length,
      form: cue === '' ? text.toLowerCase() : `<${cue}>${/^\p{Lu}\p{Ll}/u.test(text) ? 'capital' : ''}`,
      isName,
      listed: isName ? findListedKind(text, dictionary) : '',
    };
  });
}

function findListedKind(text: string, dictionary: NameDictionary): string {
  const entry = dictionary.get(nameKey(text));
  if (!entry || entry.needsCue) return '';
  const actors = entry.entities.filter(({ kind }) => kind === 'actor').length;
  return actors === 0 ? 'software' : actors === entry.entities.length ? 'actor' : '';
}

/** Returns whether a word can be part of a name: it has a capital or a digit, is no generic word, and stands outside of addresses and code. */
function isNameWord(sentence: string, start: number, text: string): boolean {
  if (!/^\p{Lu}|^\p{Ll}{1,10}\p{Lu}\p{Ll}{2}|^\d+\p{L}|^\p{Ll}+\d+$/u.test(text) || text.length > wordMaxChars)
    return false;
  if (/[./\\:@#$_%=&?(]/.test(sentence[start - 1] ?? ' ') && !/[(/]/.test(sentence[start - 1]!)) return false;
  if (/^[\\@_=%]|^[./:(][\p{Script=Latin}\d)]/u.test(sentence.slice(start + text.length, start + text.length + 2)))
    return false;
  return (
    !isGenericName(text, true) && !isRegion(text) && !/^(?:CVE|CWE|CAPEC|T\d{4}|TA00\d\d|S\d{4}|G\d{4})/.test(text)
  );
}
const wordMaxChars = 30;
const wordsMax = 3;

/** Returns the candidates of a text, in its order. */
export function findCandidates(text: string, dictionary: NameDictionary): NameCandidate[] {
  const classByWord = new Map<string, string>();
  // Lists and logs repeat sentences.
  const read = new Set<string>();
  return findSentences(text).flatMap((sentence) => {
    if (read.has(sentence.text) || !/\p{Lu}|\d\p{L}|\p{L}\d/u.test(sentence.text)) return [];
    read.add(sentence.text);
    const tokens = readTokens(sentence.text, dictionary, classByWord);
    const isHeadline = tokens.filter(({ text: one }) => /^(?:\p{Ll}{4}|\p{Lo})/u.test(one)).length < 2;
    return findRuns(tokens, isHeadline).map(([first, last]) => {
      const span = { start: sentence.start + tokens[first]!.start, end: sentence.start + tokens[last - 1]!.end };
      const printed = text.slice(span.start, span.end);
      const context = { left: listBefore(tokens, first), right: listAfter(tokens, last) };
      const owner = context.left.forms[0]?.startsWith('<alias>') ? findOwner(tokens, first) : undefined;
      return {
        printed,
        span,
        features: isPossible(printed) ? describe(printed, context) : undefined,
        owner: owner && { start: sentence.start + owner.start, end: sentence.start + owner.end },
      };
    });
  });
}

/** Returns where capitalized words in a row begin and end, without a participle before a distinctive word: `Encrypted Foobar`. */
function findRuns(tokens: Token[], isHeadline: boolean): [number, number][] {
  const runs: [number, number][] = [];
  for (let from = 0; from < tokens.length; from += 1) {
    if (!tokens[from]!.isName) continue;
    let to = from + 1;
    while (tokens[to]?.isName && continuesName(tokens[to - 1]!, tokens[to]!)) to += 1;
    const isLed = to > from + 1 && isGenericName(tokens[from]!.text) && isDistinctive(tokens[from + 1]!.text);
    runs.push(...splitRun(tokens, isLed ? from + 1 : from, to, isHeadline));
    from = to - 1;
  }
  return runs;
}

/** A listed name ends where the next word begins: `TA551 IcedID` are two names. */
const continuesName = (last: Token, next: Token): boolean =>
  next.start === last.end + 1 && last.listed === '' && next.listed === '';

/** Splits capitalized words that are too many for a name, as in headlines, at the common ones. */
function splitRun(tokens: Token[], from: number, to: number, isHeadline: boolean): [number, number][] {
  if (to - from <= wordsMax && !isHeadline) return [[from, to]];
  const runs: [number, number][] = [];
  for (let at = from; at < to; at += 1) {
    if (!isDistinctive(tokens[at]!.text)) continue;
    const last = runs.at(-1);
    if (last?.[1] === at) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs.filter(([first, last]) => last - first <= wordsMax);
}

/** Returns whether a name is no plain word: it has an inner capital or a digit, or its words are not common. */
export const isDistinctive = (printed: string): boolean => /\p{Ll}\p{Lu}|\d/u.test(printed) || !needsCue(printed);
/** Common words with a capital each: `Foo Bar`. */
export const isTitled = (printed: string): boolean => /^\p{Lu}\p{Ll}{2,}(?: \p{Lu}\p{Ll}{2,}){1,2}$/u.test(printed);

const isPossible = (printed: string): boolean =>
  nameKey(printed).length >= 3 &&
  isName(printed) &&
  !isGenericName(printed) &&
  (isDistinctive(printed) || isTitled(printed)) &&
  !/^[\d.-]+$/.test(printed);

const near = 3;
const reach = 7;

/** `forms`: those of the tokens next to a candidate. `items`: the kind of listed names in its list, or whether it is in one. */
type Side = { forms: string[]; items: string };
type Context = { left: Side; right: Side };

/** Returns the features of a candidate: the words and cues around it without the other items of its list, and its form. */
function describe(printed: string, context: Context): number[] {
  const { forms: left, items: before } = context.left;
  const { forms: right, items: after } = context.right;
  const form = formOf(printed);
  const key = nameKey(printed);
  const features = [
    `form ${form}`,
    `end3 ${key.slice(-3)}`,
    `end4 ${key.slice(-4)}`,
    `start3 ${key.slice(0, 3)}`,
    ...Array.from({ length: near }, (_, at) => [`left${at} ${left[at]}`, `right${at} ${right[at]}`]).flat(),
    `left ${left[1]} ${left[0]}`,
    `right ${right[0]} ${right[1]}`,
    `both ${left[0]} ${right[0]}`,
    `formleft ${form} ${left[0]}`,
    `formright ${form} ${right[0]}`,
    `items before ${before}`,
    `items after ${after}`,
    `cues before ${listCues(left).slice(0, 2).join(' ')}`,
    `cue before ${listCues(left)[0]}`,
    `cue after ${listCues(right)[0]}`,
    `cues around ${listCues(left)[0]} ${listCues(right)[0]}`,
    ...listCues(left).map((one) => `before ${one}`),
    ...listCues(right).map((one) => `after ${one}`),
  ];
  return [...new Set(features.map((feature) => toFeature(hash(feature))))];
}

const listCues = (forms: string[]): string[] =>
  forms.flatMap((form) => (form[0] === '<' ? classes.filter((one) => form.startsWith(`<${one}>`)) : []));

const formOf = (printed: string): string =>
  [
    printed.split(' ').length,
    /\p{Ll}\p{Lu}/u.test(printed) ? 'inner' : /^[\p{Lu}\d -]+$/u.test(printed) ? 'capitals' : 'plain',
    /\d/.test(printed) ? 'digit' : '',
    isDistinctive(printed) ? '' : 'common',
  ].join('');

const isQuote = ({ text }: Token): boolean => /^[“”"‘’'«»„「」『』*]$/.test(text);
const isJoint = ({ text }: Token): boolean => /^(?:[,、，/&]|and|or|und|et|y|e|ou|o|en|и|と|和|및)$/.test(text);

const listBefore = (tokens: Token[], first: number): Side =>
  readSide(tokens.slice(Math.max(0, first - windowTokens), first).toReversed(), '<start>');
const listAfter = (tokens: Token[], last: number): Side => readSide(tokens.slice(last, last + windowTokens), '<end>');
const windowTokens = 30;

/** Reads the tokens next to a candidate, without those of its list. */
function readSide(tokens: Token[], edge: string): Side {
  const at = skipItems(tokens);
  const items = tokens.slice(0, at).filter((one) => one.isName);
  const forms = tokens.slice(at, at + reach).map(({ form, isName, listed }) => (isName ? `<name ${listed}>` : form));
  return {
    forms: forms.length < reach ? [...forms, edge] : forms,
    items: items.length === 0 ? 'none' : (items.find((one) => one.listed !== '')?.listed ?? 'unknown'),
  };
}

/** Returns how many tokens belong to the quotation and the list of a candidate. */
function skipItems(tokens: Token[]): number {
  let end = 0;
  let at = 0;
  for (;;) {
    while (tokens[at] && isQuote(tokens[at]!)) at += 1;
    end = at;
    while (tokens[at] && (isJoint(tokens[at]!) || isQuote(tokens[at]!))) at += 1;
    if (at === end || !tokens[at]?.isName) return end;
    while (tokens[at]?.isName) at += 1;
  }
}

/** Returns the span of the name for which the words before a candidate introduce it, with those between that name and the cue. */
function findOwner(tokens: Token[], first: number): Span | undefined {
  const cue = tokens.findLastIndex((one, at) => at < first && one.form.startsWith('<alias>'));
  const name = tokens.findLastIndex((one, at) => at < cue && one.isName);
  return cue - name <= ownerTokensMax && name >= 0 ? { start: tokens[name]!.end, end: tokens[cue]!.start } : undefined;
}
const ownerTokensMax = 4;
