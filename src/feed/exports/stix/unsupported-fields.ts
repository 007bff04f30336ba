import { listObservables, type SeenItem } from '../../model/values/observables.ts';
import { toObservablePattern } from './stix-patterns.ts';

/** The number of values of an item that a format cannot represent, by field. */
export type UnsupportedFields = Record<string, number>;

/** Adds counts field by field and omits fields whose sum is 0. */
export function sumUnsupported(counts: UnsupportedFields[]): UnsupportedFields {
  const sum: UnsupportedFields = {};
  for (const [field, count] of counts.flatMap(Object.entries)) if (count > 0) sum[field] = (sum[field] ?? 0) + count;
  return sum;
}

/** Frameworks whose mappings become STIX objects. */
const supportedFrameworks = new Set(['cve', 'observable:tool', 'observable:attack-pattern']);

export function countUnsupportedByStix(item: SeenItem): UnsupportedFields {
  const { source, event, classification, iocs } = item;
  const indicators = Object.values(iocs).flat();
  const observables = listObservables(item).filter((one) => toObservablePattern(one) !== undefined);
  const mappings = classification.mappings.filter(({ framework }) => !supportedFrameworks.has(framework));
  const counts = {
    tldr: item.tldr ? 1 : 0,
    summary: item.summary && item.abstract ? 1 : 0,
    attackPath: item.attackPath.length,
    affectedProducts: item.affectedProducts.length,
    'classification.killChain': classification.killChain.length,
    'classification.platforms': classification.platforms.length,
    'classification.mappings': mappings.length - observables.length,
    'provenance.supportingPassages': item.provenance.supportingPassages.length,
    'source.license': source.license ? 1 : 0,
    'event.eventFirstSeen': event.eventFirstSeen ? 1 : 0,
    'event.eventLastSeen': event.eventLastSeen ? 1 : 0,
    'iocs.status': [...indicators, ...observables].filter(({ status }) => status === 'false_positive').length,
    // Only their expiry is exported, as `valid_until`.
    'iocs.lastSeen': indicators.filter(({ lastSeen }) => lastSeen).length,
    // Observables carry no marking, so only those of CLEAR items are exported.
    observables: source.tlp === 'CLEAR' ? 0 : indicators.length + observables.length,
  };
  return sumUnsupported([counts]);
}
