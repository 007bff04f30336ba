import type { Caller } from '../../platform/orgs/caller.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { listNetworks, type ObservableIndicator } from '../model/observables.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { readExportPage, readExportSnapshot, type ExportDeps } from './export-page.ts';
import type { BlocklistQuery } from './exports-query.ts';

const itemsMax = 100_000;
const itemsPerRead = 500;

/**
 * Returns the values to block, sorted, one per line: active indicators of the requested types from the newest items. A value that any of these
 * items marks as a false positive is left out. `isComplete` is false if items or values beyond the limits were left out.
 */
export async function readBlocklist(
  deps: ExportDeps,
  caller: Caller,
  query: BlocklistQuery,
  tlpMax: Tlp,
): Promise<{ text: string; isComplete: boolean }> {
  const dated = await readExportSnapshot(deps, caller);
  const valuesMax = Number(query.limit);
  const filter = { types: query.type.split(','), minConfidence: Number(query.minConfidence) };
  const found: FoundValues = { active: new Set(), falsePositives: new Set() };
  let after: string | undefined;
  for (let read = 0; read < itemsMax && found.active.size < valuesMax; read += itemsPerRead) {
    const page = await readExportPage(deps, caller, {
      ...dated,
      query: { limit: String(itemsPerRead), after, relevancyMode: query.relevancyMode },
      tlpMax,
    });
    for (const item of page.items) collectValues(item, filter, found);
    after = page.next;
    if (after === undefined) break;
  }
  const values = [...found.active].filter((value) => !found.falsePositives.has(value));
  const sorted = values.slice(0, valuesMax).toSorted();
  const text = sorted.map((value) => (query.format === 'hosts' ? `0.0.0.0 ${value}\n` : `${value}\n`)).join('');
  return { text, isComplete: after === undefined && values.length <= valuesMax };
}

const listValues = (item: FeedItem): ObservableIndicator[] => [
  ...Object.values(item.iocs).flat(),
  ...listNetworks(item),
];

type BlocklistFilter = { types: string[]; minConfidence: number };
type FoundValues = { active: Set<string>; falsePositives: Set<string> };

function collectValues(item: FeedItem, { types, minConfidence }: BlocklistFilter, found: FoundValues): void {
  for (const { type, normalizedValue, status, confidence } of listValues(item)) {
    if (!types.includes(type)) continue;
    if (status === 'false_positive') found.falsePositives.add(normalizedValue);
    if (status === 'active' && confidence >= minConfidence && !/[\r\n]/.test(normalizedValue))
      found.active.add(normalizedValue);
  }
}
