import { getShippedNames } from '../feed/extraction/names/dictionary/name-dictionary.ts';
import { countWords, type WordCounts } from '../feed/items/search/text/correct-text.ts';
import { listTactics, listTechniques } from '../feed/reference-data/attack.ts';

let counted: WordCounts | undefined;

/** Returns the words of the shipped names of actors, malware, tools, techniques and tactics, which are read once. */
export function countPublicWords(): WordCounts {
  counted ??= countWords([
    ...[...getShippedNames().values()].map(({ printed }) => printed),
    ...[...listTechniques(), ...listTactics()].map(({ name }) => name),
  ]);
  return counted;
}
