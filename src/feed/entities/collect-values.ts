import { toIndicatorName, type Relationship } from '../exports/relationships/find-relationships.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { toComparisonKey } from '../model/values/comparison-form.ts';
import { buckets } from '../model/vocabulary.ts';
import type { FeedEntityDetail } from './entities.schema.ts';

/** An item as the organization sees it, with the relationships of the entity that its text states. */
export type ReadItem = { item: FeedItem; stated: Relationship[] };

const indicatorsMax = 500;
const techniquesMax = 200;
const itemsMax = 10;

/**
 * Returns the active and expired indicators of items by value, stated ones first, then the most frequent. `isOther` decides whether a source
 * assigns a value to other names than the entity.
 */
export function collectIndicators(
  read: ReadItem[],
  isOther: (indicator: Indicator) => boolean,
): FeedEntityDetail['indicators'] {
  const found = new Map<string, FeedEntityDetail['indicators'][number]>();
  for (const { item, stated } of read) {
    const statedNames = namesOf(stated.map(({ source }) => source));
    for (const indicator of buckets.flatMap((bucket) => item.iocs[bucket])) {
      const { type, normalizedValue: value, status } = indicator;
      if ((status !== 'active' && status !== 'expired') || isOther(indicator)) continue;
      const key = toComparisonKey(indicator);
      const known = found.get(key) ?? { type, value, status, isStated: false, items: [] };
      found.set(key, {
        ...addItem(known, item.id, statedNames.has(toIndicatorName(indicator))),
        status: known.status === 'active' ? 'active' : status,
      });
    }
  }
  return [...found.values()].toSorted(byEvidence).slice(0, indicatorsMax);
}

/** Returns the techniques of items, stated ones first, then the most frequent. */
export function collectTechniques(read: ReadItem[]): FeedEntityDetail['techniques'] {
  const found = new Map<string, FeedEntityDetail['techniques'][number]>();
  for (const { item, stated } of read) {
    const statedNames = namesOf(stated.map(({ target }) => target));
    for (const { technique, subTechnique, techniqueName } of item.classification.attack) {
      const id = subTechnique ?? technique;
      const known = found.get(id) ?? { id, name: techniqueName, isStated: false, items: [] };
      found.set(id, addItem(known, item.id, statedNames.has(id)));
    }
  }
  return [...found.values()].toSorted(byEvidence).slice(0, techniquesMax);
}

const namesOf = (ends: Relationship['source'][]): Set<string> =>
  new Set(ends.filter(({ kind }) => kind === 'indicator' || kind === 'technique').map(({ name }) => name));

type Counted = { isStated: boolean; items: string[] };

const addItem = <T extends Counted>(known: T, id: string, isStated: boolean): T => ({
  ...known,
  isStated: known.isStated || isStated,
  items: known.items.length < itemsMax && !known.items.includes(id) ? [...known.items, id] : known.items,
});

const byEvidence = (a: Counted, b: Counted): number =>
  Number(b.isStated) - Number(a.isStated) || b.items.length - a.items.length;
