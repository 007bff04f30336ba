import { startNearMatch, type ExcerptSegment } from '../../../lib/excerpt.ts';
import type { ItemHighlight } from '../../../api/feed.ts';

/** Where an item matches a search: in its title, and elsewhere, as a line of text. */
export type SearchMatches = { title?: ExcerptSegment[] | undefined; excerpt?: ExcerptSegment[] | undefined };

const textOf = (segments: readonly ExcerptSegment[]): string => segments.map(({ text }) => text).join('');

const repeatedChars = 16;

/** Returns whether a passage reads like the title around its first match, because the text begins with the title. */
function repeats(title: readonly ExcerptSegment[], passage: readonly ExcerptSegment[]): boolean {
  const match = passage.findIndex(({ isMatch }) => isMatch);
  return textOf(title).includes(textOf(passage.slice(match)).slice(0, repeatedChars));
}

/** Chooses what a row of the list shows. Passages that repeat the title come last, and names or indicators share a line. */
export function toSearchMatches(highlights: readonly ItemHighlight[]): SearchMatches {
  const listIn = (...fields: ItemHighlight['field'][]): ExcerptSegment[][] =>
    highlights.filter(({ field }) => fields.includes(field)).map(({ segments }) => segments);
  const [title] = listIn('title');
  const passages = listIn('summary', 'text');
  const passage = passages.find((one) => !title || !repeats(title, one)) ?? passages[0];
  if (passage) return { title, excerpt: startNearMatch(passage) };
  const values = listIn('name', 'indicator');
  if (values.length === 0) return { title };
  return {
    title,
    excerpt: values.flatMap((one, n) => (n === 0 ? one : [{ text: ' · ', isMatch: false }, ...one])),
  };
}
