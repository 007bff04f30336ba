import { toPlainCharacters } from './plain-characters.ts';

/** A character with its marks in a script that is written without spaces between words, or, as Korean, with endings attached to them. */
const character = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]`;
const unit = String.raw`${character}[\p{M}\u200d]*`;
const units = new RegExp(unit, 'gu');
const runs = new RegExp(`(?:${unit})+`, 'gu');
const someCharacter = new RegExp(character, 'u');

/** Returns a text as it is indexed. */
export const toIndexText = (text: string): string => splitRuns(toPlainCharacters(text));

/** Returns whether a text has characters of a script without spaces, such as Chinese, Japanese, Korean, and Thai. */
export const hasUnspacedText = (text: string): boolean => someCharacter.test(text);

/** Returns the runs of characters of such scripts. */
export const listRuns = (text: string): string[] => [...(text.match(runs) ?? [])];

/**
 * Replaces each run by its overlapping pairs of characters and its last character, separated by spaces: `勒索软件` by `勒索 索软 软件 件`. Then the
 * words of any part of the run are indexed one after another, and each character begins a word.
 */
export const splitRuns = (text: string): string =>
  hasUnspacedText(text) ? text.replace(runs, (run) => ` ${toPairs(run).join(' ')} `) : text;

function toPairs(run: string): string[] {
  const list = run.match(units)!;
  return list.map((one, index) => one + (list[index + 1] ?? ''));
}

/**
 * Returns the words of a search that match a word of a text as it is indexed by `splitRuns`, as terms of `websearch_to_tsquery`. A run of three
 * characters or more is a phrase of its pairs.
 */
export function toSearchTerms(word: string): string[] {
  if (!hasUnspacedText(word)) return [word];
  return splitParts(word).map((part) => (hasUnspacedText(part) ? quoteIfSeveral(toPairsWithin(part)) : part));
}

/** Like `toSearchTerms`, for the content of a phrase in quotation marks. */
export function toPhraseWords(phrase: string): string {
  if (!hasUnspacedText(phrase)) return phrase;
  const parts = splitParts(phrase);
  const words = parts.flatMap((part, index) => {
    if (!hasUnspacedText(part)) return [part];
    return index === parts.length - 1 ? toPairsWithin(part) : toPairs(part);
  });
  return words.join(' ');
}

/** Returns the pairs of a run that may continue. A single character is the beginning of a pair. */
const toPairsWithin = (run: string): string[] => {
  const pairs = toPairs(run);
  return pairs.length > 1 ? pairs.slice(0, -1) : pairs;
};

const quoteIfSeveral = (words: string[]): string => (words.length > 1 ? `"${words.join(' ')}"` : words.join(''));

const splitParts = (text: string): string[] =>
  text
    .replace(runs, ' $& ')
    .split(/\s+/)
    .filter((part) => part !== '' && /[\p{L}\p{N}]/u.test(part));
