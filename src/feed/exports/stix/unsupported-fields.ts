import type { FeedItem } from '../../model/item.schema.ts';

/** How many values of which field of an item a format has no place for. */
export type Losses = Record<string, number>;

export function addLosses(sum: Losses, more: Losses): void {
  for (const [field, count] of Object.entries(more)) if (count > 0) sum[field] = (sum[field] ?? 0) + count;
}

/** Mappings that become objects. */
const carried = new Set(['cve', 'observable:tool', 'observable:attack-pattern']);

/** What the STIX objects of an item do not say. */
export function stixLosses(item: FeedItem): Losses {
  const { classification, iocs } = item;
  const indicators = Object.values(iocs).flat();
  const losses: Losses = {};
  addLosses(losses, {
    tldr: item.tldr ? 1 : 0,
    summary: item.summary && item.abstract ? 1 : 0,
    attackPath: item.attackPath.length,
    affectedProducts: item.affectedProducts.length,
    'classification.killChain': classification.killChain.length,
    'classification.platforms': classification.platforms.length,
    'classification.mappings': classification.mappings.filter(({ framework }) => !carried.has(framework)).length,
    'provenance.supportingPassages': item.provenance.supportingPassages.length,
    'source.license': item.source.license ? 1 : 0,
    'event.eventFirstSeen': item.event.eventFirstSeen ? 1 : 0,
    'event.eventLastSeen': item.event.eventLastSeen ? 1 : 0,
    // Their end stands in `valid_until`.
    'iocs.lastSeen': indicators.filter(({ lastSeen }) => lastSeen).length,
    // An observable has no marking of its own, so that there is none of what not everyone may see.
    observables: item.source.tlp === 'CLEAR' ? 0 : indicators.length,
  });
  return losses;
}
