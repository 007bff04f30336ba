import type { Tx } from '../../../platform/db/db.ts';
import { editDistance } from '../../../platform/lib/text/nearest-names.ts';
import { listRecentItems } from '../items.store.ts';
import { listPlainWords, withoutFillers } from '../search-terms/query-text.ts';
import type { Search } from '../search-terms/search-query.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { readSearchPage, textOnly } from './search.store.ts';

/**
 * Returns what to search for when no item matches all words of a text: all of them but one, then any of them. Returns nothing for a single word, for
 * very many, or for a text with signs.
 */
export function listPartialTexts(text: string): string[] {
  const words = withoutFillers(listPlainWords(text) ?? []).filter((word) => word.toLowerCase() !== 'or');
  if (words.length < 2) return [];
  const allButOne = words.map((_left, left) => words.filter((_word, index) => index !== left).join(' ')).join(' or ');
  return words.length === 2 ? [allButOne] : [allButOne, words.join(' or ')];
}

const titlesMax = 2_000;

/** Returns the words of names that are not secret to any organization, such as those of public lists. */
export type CountPublicWords = () => WordCounts;

export type CorrectionContext = { snapshot: Snapshot; countPublicWords: CountPublicWords; now: Date };

/** `isUnmatched`: it is already known that no item matches the text. */
type WrittenSearch = { search: Search; isUnmatched: boolean };

/** A search in place of one that no item matches. `code` is that of the warning, `text` what is searched for. */
export type OtherSearch = { code: 'corrected_search' | 'partial_search'; text: string; search: Search };

/**
 * Lists what to search for if no item matches the text as written, best first: the text with its misspelled words corrected, then parts of the text. Returns
 * nothing if an item matches the text itself. Corrections are public names and words from the titles of the newest items that the organization
 * sees, so that it never sees a word of another organization.
 */
export async function listOtherSearches(
  tx: Tx,
  { search, isUnmatched }: WrittenSearch,
  { snapshot, countPublicWords, now }: CorrectionContext,
): Promise<OtherSearch[]> {
  if (!search.fullText) return [];
  if (!isUnmatched) {
    const asWritten = textOnly({ filters: {}, search });
    const written = await readSearchPage(tx, snapshot, { ...asWritten, limit: 1, offset: 0, now });
    if (written.total > 0) return [];
  }
  const recent = await listRecentItems(tx, snapshot, { overridesSeq: undefined, limit: titlesMax });
  const known = countWords(
    recent.map(({ title }) => title),
    countPublicWords(),
  );
  const corrected = correctText(search.fullText.text, known);
  const withText = (text: string): Search => ({ ...search, fullText: { text, indicatorForms: [], runs: [] } });
  return [
    ...(corrected === undefined
      ? []
      : [{ code: 'corrected_search' as const, text: corrected, search: withText(corrected) }]),
    ...listPartialTexts(search.applied['q'] ?? '').map((text) => ({
      code: 'partial_search' as const,
      text,
      search: withText(text),
    })),
  ];
}

const wordMinChars = 4;
const wordMaxChars = 40;

const startsWithLetter = /^\p{L}/u;
const separator = /[^\p{L}\p{N}]+/u;

/** The number of occurrences of words in lower case. */
export type WordCounts = ReadonlyMap<string, number>;

/** Returns the words of texts that may correct a search, added to those of `others`. */
export function countWords(texts: Iterable<string>, others: WordCounts = new Map()): WordCounts {
  const counts = new Map(others);
  for (const text of texts)
    for (const word of text.toLowerCase().split(separator))
      if (word.length >= wordMinChars && word.length <= wordMaxChars && startsWithLetter.test(word))
        counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/**
 * Replaces each unknown word of a search by the nearest known one: at one edit, from eight letters on at two, the most frequent first. A word with
 * which a known word begins is known. Returns undefined if the text is not of plain words, if all words are known, or if one has no neighbor.
 */
export function correctText(text: string, known: WordCounts): string | undefined {
  const words = listPlainWords(text.toLowerCase());
  if (!words) return undefined;
  const corrected = words.map((word) => (isCorrectable(word) ? findNearest(word, known) : word));
  return corrected.includes(undefined) || corrected.join(' ') === words.join(' ') ? undefined : corrected.join(' ');
}

const isCorrectable = (word: string): boolean =>
  word.length >= wordMinChars && word.length <= wordMaxChars && startsWithLetter.test(word);

function findNearest(word: string, known: WordCounts): string | undefined {
  const limit = word.length < 8 ? 1 : 2;
  const letters = new Set(word);
  let best: { word: string; distance: number; count: number } | undefined;
  for (const [candidate, count] of known) {
    if (candidate.startsWith(word)) return word;
    if (!mayBeNear(candidate, { word, letters, limit })) continue;
    const distance = editDistance(word, candidate, limit);
    if (distance > limit) continue;
    if (!best || distance < best.distance || (distance === best.distance && count > best.count))
      best = { word: candidate, distance, count };
  }
  return best?.word;
}

type WantedWord = { word: string; letters: ReadonlySet<string>; limit: number };

/**
 * Returns whether a word has a similar length and few letters that the wanted one lacks. Excludes most words in a fraction of the time of
 * `editDistance`.
 */
function mayBeNear(candidate: string, { word, letters, limit }: WantedWord): boolean {
  if (Math.abs(candidate.length - word.length) > limit) return false;
  let foreign = 0;
  for (const letter of candidate) if (!letters.has(letter) && (foreign += 1) > limit) return false;
  return true;
}
