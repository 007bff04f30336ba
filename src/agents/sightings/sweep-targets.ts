import type { FeedItem, Indicator } from '../../feed/model/item.schema.ts';
import { sought, type Sought } from './sighting-fields.ts';
import { isPlain, type Wanted } from './sweep-queries.ts';

const confidenceMin = 0.5;
const perItemMax = 1_000;
const perQueryMax = 100;

/** An indicator of an item that is looked for; `value` in lower case. */
export type Target = { itemId: string; kind: Sought; type: string; value: string };

/** What of an item is worth looking for: its active indicators of enough confidence, the surest first. */
export function targetsOf(item: FeedItem): Target[] {
  const counts = ({ status, confidence, normalizedValue }: Indicator): boolean =>
    status === 'active' && confidence >= confidenceMin && isPlain(normalizedValue);
  const found = (Object.keys(sought) as Sought[]).flatMap((kind) =>
    sought[kind].buckets.flatMap((bucket) =>
      item.iocs[bucket].filter(counts).map((indicator) => ({ kind, indicator })),
    ),
  );
  return found
    .toSorted((a, b) => b.indicator.confidence - a.indicator.confidence)
    .slice(0, perItemMax)
    .map(({ kind, indicator: { type, normalizedValue } }) => ({
      itemId: item.id,
      kind,
      type,
      value: normalizedValue.toLowerCase(),
    }));
}

/** The values of targets, each once, in lists that fit into one query. */
export function listsOf(targets: Target[]): Wanted[] {
  const distinct = [...new Map(targets.map((target) => [`${target.kind} ${target.value}`, target])).values()];
  return Array.from({ length: Math.ceil(distinct.length / perQueryMax) }, (_, index) => {
    const wanted: Wanted = { address: [], domain: [], hash: [], url: [] };
    for (const { kind, value } of distinct.slice(index * perQueryMax, (index + 1) * perQueryMax))
      wanted[kind].push(value);
    return wanted;
  });
}
