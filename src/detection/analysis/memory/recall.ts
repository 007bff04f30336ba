import type { AnalysisWindow } from '../analysis-definition.ts';
import {
  emptyPast,
  isWithinReach,
  pairKey,
  type MemoryEntry,
  type MemoryQuery,
  type PastMemory,
  type PastWindow,
} from './memory.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** One window of memory. */
export type RememberedWindow = PastWindow & { entries: readonly MemoryEntry[] };

/** Answers a query over memory held in this process, as `recallMemory` does in SQL: for previews and tests that store nothing. */
export function recallFrom(all: readonly RememberedWindow[], window: AnalysisWindow, query: MemoryQuery): PastMemory {
  const before = all.filter((one) => one.to <= window.from);
  const near = before
    .filter((one) => isWithinReach(one, window.from, query.since))
    .toSorted((a, b) => a.from.getTime() - b.from.getTime());
  const past = emptyPast(
    near.map(({ from, to }) => ({ from, to })),
    before.length,
  );
  if (query.want === 'known') fillKnown(past, near, query.pairs);
  if (query.want === 'samples' || query.want === 'values') fillEntries(past, near, query);
  return past;
}

function fillKnown(
  past: PastMemory,
  near: readonly RememberedWindow[],
  pairs: readonly { key: string; entity: string }[],
): void {
  const there = new Set(near.flatMap(({ entries }) => entries.map(pairKey)));
  const unknown = pairs.filter((pair) => !there.has(pairKey(pair)));
  for (const pair of pairs) if (there.has(pairKey(pair))) past.known.add(pairKey(pair));
  const entities = new Set(unknown.map(({ entity }) => entity));
  const keys = new Set(unknown.map(({ key }) => key));
  const holders = new Map<string, Set<string>>();
  for (const { from, entries } of near) {
    for (const entity of new Set(entries.map((entry) => entry.entity))) {
      if (!entities.has(entity)) continue;
      const sight = past.sights.get(entity) ?? { firstSeen: from.getTime(), windows: 0 };
      past.sights.set(entity, { ...sight, windows: sight.windows + 1 });
    }
    for (const { key, entity } of entries)
      if (keys.has(key)) holders.set(key, (holders.get(key) ?? new Set()).add(entity));
  }
  for (const [key, found] of holders) past.holders.set(key, found.size);
}

function fillEntries(
  past: PastMemory,
  near: readonly RememberedWindow[],
  query: { want: string; entities: string[] },
): void {
  const entities = new Set(query.entities);
  for (const { from, entries } of near) {
    const at = from.getTime();
    for (const { key, entity, number, value } of entries.toSorted((a, b) => compareCodeUnits(a.key, b.key))) {
      if (!entities.has(entity)) continue;
      if (query.want === 'samples' && number !== null) append(past.samples, entity, { at, number });
      if (query.want === 'values' && value !== null) append(past.values, entity, { at, key, value });
    }
  }
}

/** Adds to the list kept under a key. */
export function append<V>(lists: Map<string, V[]>, key: string, item: V): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
