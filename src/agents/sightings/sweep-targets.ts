import type { FeedItem, Indicator } from '../../feed/model/item.schema.ts';
import { sweepKinds, type SweepKind } from './sighting-fields.ts';
import { isPlainValue, type SweepValues } from './sweep-query.ts';

const confidenceMin = 0.5;
const targetsPerItemMax = 1_000;
const valuesPerQueryMax = 100;

/** An indicator of an item to search for. `value` is in lower case. */
export type SweepTarget = { itemId: string; kind: SweepKind; type: string; value: string };

/** Returns the item's active indicators with a confidence of at least 0.5, highest confidence first, at most 1,000. */
export function listSweepTargets(item: FeedItem): SweepTarget[] {
  const isWanted = ({ status, confidence, normalizedValue }: Indicator): boolean =>
    status === 'active' && confidence >= confidenceMin && isPlainValue(normalizedValue);
  const indicators = (Object.keys(sweepKinds) as SweepKind[]).flatMap((kind) =>
    sweepKinds[kind].buckets.flatMap((bucket) =>
      item.iocs[bucket].filter(isWanted).map((indicator) => ({ kind, indicator })),
    ),
  );
  return indicators
    .toSorted((a, b) => b.indicator.confidence - a.indicator.confidence)
    .slice(0, targetsPerItemMax)
    .map(({ kind, indicator: { type, normalizedValue } }) => ({
      itemId: item.id,
      kind,
      type,
      value: normalizedValue.toLowerCase(),
    }));
}

/** Groups the distinct values of the targets into batches of at most 100, one query each. */
export function toValueBatches(targets: SweepTarget[]): SweepValues[] {
  const distinct = [...new Map(targets.map((target) => [`${target.kind} ${target.value}`, target])).values()];
  return Array.from({ length: Math.ceil(distinct.length / valuesPerQueryMax) }, (_, index) => {
    const values: SweepValues = { address: [], domain: [], hash: [], url: [] };
    for (const { kind, value } of distinct.slice(index * valuesPerQueryMax, (index + 1) * valuesPerQueryMax))
      values[kind].push(value);
    return values;
  });
}
