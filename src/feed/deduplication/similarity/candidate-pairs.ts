import { addToTally, emptyTally, countTallied, type IndicatorTally } from './indicator-tally.ts';
import { rareHoldersMax, type ValueHolders } from '../deduplication.store.ts';

const partnersPerItemMax = 200;

/** Two items that share a rare value. `rareIndicators` counts the things that their shared rare indicators refer to. */
export type ItemPair = { a: string; b: string; rareIndicators: number };

/** The values that an item shares with others, by their IDs. */
type Partners = Map<string, IndicatorTally>;

/** Pairs the items with other holders of their rare values. Each item keeps the 200 partners that share the most rare indicators. */
export function findPairs(holders: ValueHolders[], ids: ReadonlySet<string>): ItemPair[] {
  const byItem = new Map<string, Partners>();
  for (const { kind, value, ids: holderIds } of holders) {
    if (holderIds.length > rareHoldersMax) continue;
    const rareIndicator = kind === 'indicator' ? value : undefined;
    for (const a of holderIds) {
      if (!ids.has(a)) continue;
      const partners = byItem.get(a) ?? new Map();
      byItem.set(a, partners);
      // If both items are in `ids`, only the smaller id adds the pair.
      for (const b of holderIds) if (b !== a && !(ids.has(b) && b < a)) addPartner(partners, b, rareIndicator);
    }
  }
  return [...byItem].flatMap(([a, partners]) =>
    [...partners]
      .map(([b, tally]): ItemPair => ({ a, b, rareIndicators: countTallied(tally) }))
      .toSorted((one, two) => two.rareIndicators - one.rareIndicators || (one.b < two.b ? -1 : 1))
      .slice(0, partnersPerItemMax),
  );
}

function addPartner(partners: Partners, id: string, rareIndicator: string | undefined): void {
  const tally = partners.get(id) ?? emptyTally();
  if (rareIndicator !== undefined) addToTally(tally, rareIndicator);
  partners.set(id, tally);
}
