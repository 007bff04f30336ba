import { extractTerms, toTermValue, type Term } from '../../model/terms.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { addToTally, emptyTally, countTallied } from './indicator-tally.ts';
import { listBands, packSketch, createSketch } from './sketch.ts';

const aliasesMax = 100;

/** Returns the traits by which an item is found and compared. Only prose has a sketch: the fields of a structured record are not compared as text. */
export function buildComparisonTraits(
  item: FeedItem,
  { storedText, isProse, aliases = [] }: { storedText: string; isProse: boolean; aliases?: string[] | undefined },
): { terms: Term[]; sketch: string | null; identifying: number } {
  const hashes = isProse ? createSketch(storedText) : undefined;
  const aliasValues = new Set(aliases.slice(0, aliasesMax).map((alias) => toTermValue('alias', alias)));
  const terms: Term[] = [
    ...extractTerms(item),
    ...[...aliasValues].map((value): Term => ({ kind: 'alias', value })),
    ...(hashes ? listBands(hashes).map((value): Term => ({ kind: 'text', value })) : []),
  ];
  const tally = emptyTally();
  for (const { identifying, value } of terms) if (identifying) addToTally(tally, value);
  return { terms, sketch: hashes ? packSketch(hashes) : null, identifying: countTallied(tally) };
}
