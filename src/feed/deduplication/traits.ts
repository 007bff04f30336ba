import { termsOf, termValue, type Term } from '../model/terms.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { addToTally, emptyTally, tallied } from './tally.ts';
import { bandsOf, packSketch, sketchOf } from './sketch.ts';

const aliasesMax = 100;

/**
 * What an item is found and compared by, from its document, its text and the names that its source gives to the same thing. Only a text is
 * compared as one: the fields of a structured record tell no story.
 */
export function traitsOf(
  item: FeedItem,
  { storedText, isText, aliases = [] }: { storedText: string; isText: boolean; aliases?: string[] | undefined },
): { terms: Term[]; sketch: string | null; identifying: number } {
  const hashes = isText ? sketchOf(storedText) : undefined;
  const named = new Set(aliases.slice(0, aliasesMax).map((alias) => termValue('alias', alias)));
  const terms: Term[] = [
    ...termsOf(item),
    ...[...named].map((value): Term => ({ kind: 'alias', value })),
    ...(hashes ? bandsOf(hashes).map((value): Term => ({ kind: 'text', value })) : []),
  ];
  const tally = emptyTally();
  for (const { identifying, value } of terms) if (identifying) addToTally(tally, value);
  return {
    terms,
    sketch: hashes ? packSketch(hashes) : null,
    identifying: tallied(tally),
  };
}
