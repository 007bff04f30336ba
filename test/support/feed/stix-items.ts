import type { DatedOverride } from '../../../src/feed/items/snapshot/apply-overrides.ts';
import { toBundle, type ItemVersion } from '../../../src/feed/exports/stix/stix-item.ts';
import type { FeedItem, Indicator } from '../../../src/feed/model/item.schema.ts';
import { buckets } from '../../../src/feed/model/vocabulary.ts';
import { indicatorTypes, type IndicatorType } from '../../../src/feed/model/values/indicator-types.ts';

/** When the items below were last updated. */
export const at = '2026-01-05T09:00:00.000Z';

const iocs = (found: Indicator[]): FeedItem['iocs'] =>
  Object.fromEntries(
    buckets.map((bucket) => [
      bucket,
      found.filter(({ type }) => indicatorTypes[type as IndicatorType].bucket === bucket),
    ]),
  ) as FeedItem['iocs'];

export const itemOf = (found: Indicator[], tlp: FeedItem['source']['tlp'] = 'CLEAR'): FeedItem => ({
  id: '01934c3b-4f7e-7aaa-8bbb-0123456789ab',
  source: { publisher: 'Northmere', name: 'Blog', tlp, url: 'https://northmere.example/1' },
  event: { title: 'A title', severity: 'high', confidence: 0.8, status: 'active' },
  attackPath: [],
  classification: { attack: [], killChain: [], malware: [], actor: [], platforms: [], mappings: [] },
  affectedProducts: [],
  iocs: iocs(found),
  provenance: { supportingPassages: [] },
  version: 1,
  lastUpdated: at,
  createdAt: at,
  addedToFeedAt: at,
  canonicalKey: 'url:northmere.example/1',
  tenantOverrides: null,
});
export const evil: Indicator = {
  type: 'domain',
  value: 'evil[.]top',
  normalizedValue: 'evil.top',
  status: 'active',
  confidence: 0.7,
  ttlDays: 180,
};
export const versionOf = (item: FeedItem, more: Partial<ItemVersion> = {}): ItemVersion => ({
  item,
  originals: null,
  overrides: [],
  storedText: null,
  wasChangedByPerson: false,
  ...more,
});
/** An item that names an actor, a malware, a CVE and an indicator. */
export function reportOf(actor: string, tlp: FeedItem['source']['tlp'] = 'CLEAR'): FeedItem {
  const name = (text: string) => ({ name: text, confidence: 0.9, aliases: [] });
  const mappings = [{ framework: 'cve', id: 'CVE-2024-1234', confidence: 0.9 }];
  const item = itemOf([evil], tlp);
  return {
    ...item,
    classification: { ...item.classification, malware: [name('WellMess')], actor: [name(actor)], mappings },
  };
}
export const statement = `APT29 uses WellMess and targets hosts in Norway.
The WellMess malware exploits CVE-2024-1234 and contacts evil[.]top.`;

export const override = (more: Partial<DatedOverride>, day = 7): DatedOverride => ({
  at: new Date(Date.UTC(2026, 0, day)),
  severity: null,
  status: null,
  indicators: [],
  ...more,
});
export type ReadObject = Record<string, unknown> & { id: string; type: string; modified?: string };
export const objectsOf = (one: ItemVersion): ReadObject[] =>
  (toBundle([one]).bundle as { objects: ReadObject[] }).objects;
