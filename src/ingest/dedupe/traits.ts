import { termsOf, termValue, type Term } from '../../feed/terms.ts';
import type { FeedItem } from '../../feed/schema.ts';
import { bandsOf, packSketch, sketchOf } from './sketch.ts';

const aliasesMax = 100;

/** What an item is found and compared by, from its document, its text and the names that its source gives to the same thing. */
export function traitsOf(
  item: FeedItem,
  storedText: string,
  aliases: string[] = [],
): { terms: Term[]; sketch: string | null; identifying: number } {
  const hashes = sketchOf(storedText);
  const named = new Set(aliases.slice(0, aliasesMax).map((alias) => termValue('alias', alias)));
  const terms: Term[] = [
    ...termsOf(item),
    ...[...named].map((value): Term => ({ kind: 'alias', value })),
    ...(hashes ? bandsOf(hashes).map((value): Term => ({ kind: 'text', value })) : []),
  ];
  return {
    terms,
    sketch: hashes ? packSketch(hashes) : null,
    identifying: terms.filter(({ identifying }) => identifying).length,
  };
}
