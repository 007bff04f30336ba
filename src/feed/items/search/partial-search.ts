import { listPlainWords, withoutFillers } from '../search-terms/query-text.ts';

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
