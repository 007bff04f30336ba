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

/** Typographic characters and their ASCII replacements. All are one UTF-16 unit, so that offsets in a text stay the same. */
const replacements: [characters: string, plain: string][] = [
  ['‐‑‒–—―−﹣', '-'],
  ['‘’‚‛ʼ`´′', "'"],
  ['“”„‟«»″', '"'],
  ['…•·¶§°™®©、。・「」『』【】《》〈〉\u00a0\u2002\u2003\u2009\u202f\u3000\ufeff', ' '],
];

/** The characters, and those that replace them at the same place, as SQL's `translate` expects them. */
export const typographic = {
  from: replacements.map(([characters]) => characters).join(''),
  to: replacements.map(([characters, plain]) => plain.repeat(characters.length)).join(''),
};

const plainByCharacter = new Map(
  replacements.flatMap(([characters, plain]) => [...characters].map((character) => [character, plain] as const)),
);
const replaced = new RegExp(`[${typographic.from}]`, 'g');

/** Replaces typographic characters by ASCII ones at the same places. */
export const replaceTypographic = (text: string): string =>
  text.replaceAll(replaced, (character) => plainByCharacter.get(character)!);

const hasOthers = /[^\u0000-\u007f]/;
const fullWidth = /[\uff01-\uff5e]/g;
const others = /[^\u0000-\u007f\p{L}\p{M}\p{N}\u200c\u200d]/gu;
const invisible = /[\u00ad\u200b\u2060]/g;

/**
 * Replaces characters that PostgreSQL's parser may take for letters, such as typographic quotation marks, dashes, and symbols, by ASCII ones or
 * spaces. Soft hyphens and spaces without width are removed.
 */
export const toPlainCharacters = (text: string): string =>
  hasOthers.test(text)
    ? text
        .replaceAll(invisible, '')
        .replaceAll(fullWidth, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
        .replaceAll(others, (character) => plainByCharacter.get(character) ?? ' ')
    : text;
