import type { FeedItem } from '../../model/item.schema.ts';

/** The number of values of an item that a format cannot represent, by field. */
export type UnsupportedFields = Record<string, number>;

/** Adds `more` to `sum`, without fields whose count is 0. */
export function addUnsupported(sum: UnsupportedFields, more: UnsupportedFields): void {
  for (const [field, count] of Object.entries(more)) if (count > 0) sum[field] = (sum[field] ?? 0) + count;
}

/** Frameworks whose mappings become STIX objects. */
const supportedFrameworks = new Set(['cve', 'observable:tool', 'observable:attack-pattern']);

export function countUnsupportedByStix({ source, event, classification, iocs, ...item }: FeedItem): UnsupportedFields {
  const indicators = Object.values(iocs).flat();
  const mappings = classification.mappings.filter(({ framework }) => !supportedFrameworks.has(framework));
  const unsupported: UnsupportedFields = {};
  addUnsupported(unsupported, {
    tldr: item.tldr ? 1 : 0,
    summary: item.summary && item.abstract ? 1 : 0,
    attackPath: item.attackPath.length,
    affectedProducts: item.affectedProducts.length,
    'classification.killChain': classification.killChain.length,
    'classification.platforms': classification.platforms.length,
    'classification.mappings': mappings.length,
    'provenance.supportingPassages': item.provenance.supportingPassages.length,
    'source.license': source.license ? 1 : 0,
    'event.eventFirstSeen': event.eventFirstSeen ? 1 : 0,
    'event.eventLastSeen': event.eventLastSeen ? 1 : 0,
    // Only their expiry is exported, as `valid_until`.
    'iocs.lastSeen': indicators.filter(({ lastSeen }) => lastSeen).length,
    // Observables carry no marking, so only those of CLEAR items are exported.
    observables: source.tlp === 'CLEAR' ? 0 : indicators.length,
  });
  return unsupported;
}
