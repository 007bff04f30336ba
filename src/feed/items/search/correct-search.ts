import type { Tx } from '../../../platform/db/db.ts';
import { editDistance } from '../../../platform/lib/text/nearest-names.ts';
import { listRecentItems } from '../items.store.ts';
import { isDate } from '../search-terms/query-fields.ts';
import { listPlainWords, withoutFillers } from '../search-terms/query-text.ts';
import {
  addAliases,
  isName,
  toFullTextQuery,
  type FullTextQuery,
  type PartialMatch,
  type Search,
  type WeighedText,
} from '../search-terms/search-query.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { readSearchPage, textOnly } from './search.store.ts';

const titlesMax = 2_000;

/** Returns the words of names that are not secret to any organization, such as those of public lists. */
export type CountPublicWords = () => WordCounts;

export type CorrectionContext = { snapshot: Snapshot; countPublicWords: CountPublicWords; now: Date };

/** `total` is the number of items that match the whole search, of which the text is the only condition if `isTextOnly`. */
type WrittenSearch = { search: Search; total: number; isTextOnly: boolean };

/** A search in place of one that few items match. `code` is that of the warning, `text` what is searched for. */
export type OtherSearch = { code: 'corrected_search' | 'partial_search'; text: string; search: Search };

/** So many matches of all words are enough. Behind fewer, the list continues with items that match some of the words. */
export const enoughMatches = 5;

/**
 * Lists what to search for if hardly any item matches a text as written, best first: a date as text, the text with its misspelled words corrected, the text with
 * items behind its matches that match some of its words. Returns nothing if enough items match the text itself. Corrections are public names
 * and words from the titles of the newest items that the organization sees, so that it never sees a word of another organization.
 */
export async function listOtherSearches(
  tx: Tx,
  { search, total, isTextOnly }: WrittenSearch,
  context: CorrectionContext,
): Promise<OtherSearch[]> {
  const others: OtherSearch[] = [];
  const { fullText, period } = search;
  const q = search.applied['q'] ?? '';
  if (period !== undefined && total === 0 && isDate(period)) {
    const text = [q, period].join(' ').trim();
    others.push({
      code: 'partial_search',
      text,
      search: { ...search, period: undefined, fullText: toFullTextQuery(text) },
    });
  }
  if (!fullText || (total > 0 && !hasParts(q))) return others;
  const written = isTextOnly ? total : await countText(tx, search, fullText, context);
  if (written === 0) {
    const corrected = correctText(fullText.text, await listKnownWords(tx, context));
    if (corrected !== undefined) {
      const query = { text: corrected, indicatorForms: [], runs: [] };
      others.push({ code: 'corrected_search', text: corrected, search: { ...search, fullText: query } });
    }
  }
  if (written < enoughMatches && (written === 0 || search.isRanked)) {
    const partial = await findPartialMatch(tx, search, q, context);
    if (partial)
      others.push({ code: 'partial_search', text: q, search: { ...search, fullText: { ...fullText, partial } } });
  }
  return others;
}

async function listKnownWords(tx: Tx, { snapshot, countPublicWords }: CorrectionContext): Promise<WordCounts> {
  const recent = await listRecentItems(tx, snapshot, { overridesSeq: undefined, limit: titlesMax });
  const titles = recent.map(({ title }) => title);
  return countWords(titles, countPublicWords());
}

/** Returns the number of items that match a text, whatever the other conditions of the search. */
async function countText(
  tx: Tx,
  search: Search,
  fullText: FullTextQuery,
  { snapshot, now }: CorrectionContext,
): Promise<number> {
  const alone = textOnly({ filters: {}, search: { ...search, fullText, isRanked: false } });
  return (await readSearchPage(tx, snapshot, { ...alone, limit: 1, offset: 0, now })).total;
}

/**
 * Returns what else to match for a text: parts of it, also by the aliases of a name, with at least two fifths of the weight of all. The fewer items match a part, the
 * more it weighs, so that `supply chain npm` finds a report about npm before one about any supply chain.
 */
async function findPartialMatch(
  tx: Tx,
  search: Search,
  text: string,
  context: CorrectionContext,
): Promise<PartialMatch | undefined> {
  if (!hasParts(text)) return undefined;
  const weighed: WeighedText[] = [];
  for (const part of listParts(text)) {
    const query = { ...toFullTextQuery(addAliases(part)), indicatorForms: [] };
    const matches = await countText(tx, search, query, context);
    if (matches > 0) weighed.push({ text: query.text, weight: 1 / Math.sqrt(matches) });
  }
  const texts = weighed.toSorted((a, b) => b.weight - a.weight).slice(0, partsMax);
  return texts.length === 0 ? undefined : { texts, groups: listGroups(texts.map(({ weight }) => weight)) };
}

/** Returns whether an item can match a part of a text, or an alias of it, but not the text. */
const hasParts = (text: string): boolean => {
  const parts = listParts(text);
  return parts.length > 1 || parts.some((part) => addAliases(part) !== part);
};

/** Twenty groups at most. */
const partsMax = 6;

const shareMin = 0.4;

/** Returns the smallest groups of weights, by their places, that have at least two fifths of the sum. */
export function listGroups(weights: readonly number[]): number[][] {
  const sum = (places: readonly number[]): number => places.reduce((total, place) => total + weights[place]!, 0);
  const enough = sum([...weights.keys()]) * shareMin;
  const isEnough = (places: readonly number[]): boolean => sum(places) >= enough - 1e-9;
  const all = Array.from({ length: 2 ** weights.length }, (_, mask) =>
    [...weights.keys()].filter((place) => (mask >> place) & 1),
  );
  return all.filter(
    (places) => isEnough(places) && places.every((left) => !isEnough(places.filter((place) => place !== left))),
  );
}

const partWordsMax = 3;

/** Returns the words of a text that says something, and names of several words as one. Returns nothing for a text with signs, and for a very long one. */
export function listParts(text: string): string[] {
  const words = withoutFillers(listPlainWords(text, { withCompounds: true }) ?? []).filter(
    (word) => word.toLowerCase() !== 'or',
  );
  const parts: string[] = [];
  while (words.length > 0) {
    const counts = Array.from({ length: Math.min(partWordsMax, words.length) }, (_, index) => index + 1).toReversed();
    const count = counts.find((size) => size === 1 || isName(words.slice(0, size).join(' ')))!;
    parts.push(words.splice(0, count).join(' '));
  }
  return [...new Set(parts)];
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
 * which a known word begins is known, unless its neighbor is far more frequent. Returns undefined if the text is not of plain words, if all words are known, or if one has no neighbor.
 */
export function correctText(text: string, known: WordCounts): string | undefined {
  const words = listPlainWords(text.toLowerCase());
  if (!words) return undefined;
  const corrected = words.map((word) => (isCorrectable(word) ? findNearest(word, known) : word));
  return corrected.includes(undefined) || corrected.join(' ') === words.join(' ') ? undefined : corrected.join(' ');
}

const isCorrectable = (word: string): boolean =>
  word.length >= wordMinChars && word.length <= wordMaxChars && startsWithLetter.test(word);

/** A known word is misspelled if its neighbor is so much more frequent. Names are misspelled, too. */
const misspelledMin = 20;

function findNearest(word: string, known: WordCounts): string | undefined {
  const limit = word.length < 8 ? 1 : 2;
  const letters = new Set(word);
  let best: { word: string; distance: number; count: number } | undefined;
  let ownCount = 0;
  for (const [candidate, count] of known) {
    if (candidate.startsWith(word)) {
      ownCount = Math.max(ownCount, count);
      continue;
    }
    if (!mayBeNear(candidate, { word, letters, limit })) continue;
    const distance = editDistance(word, candidate, limit);
    if (distance > limit) continue;
    if (!best || distance < best.distance || (distance === best.distance && count > best.count))
      best = { word: candidate, distance, count };
  }
  return best && best.count > ownCount * misspelledMin ? best.word : ownCount > 0 ? word : undefined;
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
