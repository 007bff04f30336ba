import { withoutFillers } from '../search-terms/query-text.ts';

const wordsMax = 8;
/** Matches a text of words alone. Anything else, such as an address, a phrase or an exclusion, is meant as it is. */
const plainWords = /^[\p{L}\p{N}]+(?:\s+[\p{L}\p{N}]+)+$/u;

/**
 * Returns what to search for when no item matches all words of a text: all of them but one, then any of them. Returns nothing for a single word, for
 * very many, or for a text with signs.
 */
export function listPartialTexts(text: string): string[] {
  if (!plainWords.test(text.trim())) return [];
  const words = withoutFillers(text.trim().split(/\s+/)).filter((word) => word.toLowerCase() !== 'or');
  if (words.length < 2 || words.length > wordsMax) return [];
  const allButOne = words.map((_left, left) => words.filter((_word, index) => index !== left).join(' ')).join(' or ');
  return words.length === 2 ? [allButOne] : [allButOne, words.join(' or ')];
}
