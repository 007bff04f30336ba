import { addToTally, emptyTally, countTallied, type IndicatorTally } from './indicator-tally.ts';
import { rareHoldersMax, type ValueHolders } from '../deduplication.store.ts';

const partnersPerItemMax = 200;

/** Two items that share a rare value. `rareIndicators` counts the things that their shared rare indicators refer to. */
export type ItemPair = { a: string; b: string; rareIndicators: number };

/** Pairs the items with other holders of their rare values. Each item keeps the 200 partners that share the most rare indicators. */
export function findPairs(holders: ValueHolders[], ids: ReadonlySet<string>): ItemPair[] {
  const byItem = new Map<string, Map<string, IndicatorTally>>();
  for (const { kind, value, ids: holderIds } of holders) {
    if (holderIds.length > rareHoldersMax) continue;
    for (const a of holderIds.filter((id) => ids.has(id))) {
      const partners = byItem.get(a) ?? new Map<string, IndicatorTally>();
      byItem.set(a, partners);
      for (const b of holderIds) {
        // If both items are in `ids`, only the smaller id adds the pair.
        if (b === a || (ids.has(b) && b < a)) continue;
        const tally = partners.get(b) ?? emptyTally();
        if (kind === 'indicator') addToTally(tally, value);
        partners.set(b, tally);
      }
    }
  }
  return [...byItem].flatMap(([a, partners]) =>
    [...partners]
      .map(([b, tally]): ItemPair => ({ a, b, rareIndicators: countTallied(tally) }))
      .toSorted((one, two) => two.rareIndicators - one.rareIndicators || (one.b < two.b ? -1 : 1))
      .slice(0, partnersPerItemMax),
  );
}
