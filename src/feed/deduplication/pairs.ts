import { addToTally, emptyTally, tallied, type Tally } from './tally.ts';
import { rareMax, type Holders } from './deduplication.store.ts';

const partnersMax = 200;

/** Two items that hold a rare value both; `rareIndicators`: how many things they both name by such an indicator. */
export type Pair = { a: string; b: string; rareIndicators: number };

/** Each of the items with those that hold a rare value of it; the most that one shares with is kept within bounds. */
export function pairsOf(holders: Holders[], ids: ReadonlySet<string>): Pair[] {
  const byItem = new Map<string, Map<string, Tally>>();
  for (const { kind, value, ids: all } of holders) {
    if (all.length > rareMax) continue;
    for (const a of all.filter((id) => ids.has(id))) {
      const partners = byItem.get(a) ?? new Map<string, Tally>();
      byItem.set(a, partners);
      for (const b of all) {
        // Of two items that are both compared the smaller one finds the pair.
        if (b === a || (ids.has(b) && b < a)) continue;
        const tally = partners.get(b) ?? emptyTally();
        if (kind === 'indicator') addToTally(tally, value);
        partners.set(b, tally);
      }
    }
  }
  return [...byItem].flatMap(([a, partners]) =>
    [...partners]
      .map(([b, tally]): Pair => ({ a, b, rareIndicators: tallied(tally) }))
      .toSorted((one, two) => two.rareIndicators - one.rareIndicators || (one.b < two.b ? -1 : 1))
      .slice(0, partnersMax),
  );
}
