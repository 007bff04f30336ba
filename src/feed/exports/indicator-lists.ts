import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { flatMapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { listFalsePositives } from '../indicators/indicators.store.ts';
import { indicatorExpiresAt } from '../model/expiry.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { createNameReader } from '../model/value-names.ts';
import { toComparisonForm } from '../model/values/normalize.ts';
import { listNetworks, type ObservableIndicator } from '../model/values/observables.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { type ExportDeps, readExportPage, readExportSnapshot } from './export-page.ts';
import type { BlocklistQuery } from './exports-query.ts';

const itemsMax = 100_000;
const itemsPerRead = 500;

/**
 * Returns the values to block, sorted, one per line: active indicators of the requested types from the newest items. A value that any item,
 * whether the filters match it or not, marks as a false positive is left out. `isComplete` is false if items or values beyond the limits were left out, and
 * `unassigned` counts the values that a filter by name left out.
 */
export async function readBlocklist(
  deps: ExportDeps,
  caller: Caller,
  query: BlocklistQuery,
  tlpMax: Tlp,
): Promise<{ text: string; isComplete: boolean; unassigned: number }> {
  const dated = await readExportSnapshot(deps, caller);
  const valuesMax = Number(query.limit);
  const filter = { types: query.type.split(','), minConfidence: Number(query.minConfidence) };
  const found = new Map<string, string>();
  let after: string | undefined;
  let unassigned = 0;
  for (let read = 0; read < itemsMax && found.size < valuesMax; read += itemsPerRead) {
    const page = await readExportPage(deps, caller, {
      ...dated,
      query: { ...query, limit: String(itemsPerRead), after },
      tlpMax,
    });
    unassigned += page.unassigned;
    for (const item of page.items) collectValues(item, filter, found);
    after = page.next;
    if (after === undefined) break;
  }
  const falsePositives = await inOrg(deps.db, caller.orgId, (tx) => listFalsePositives(tx, [...found.values()]));
  const values = [...found.values()].filter((value) => !falsePositives.has(value));
  const sorted = values.slice(0, valuesMax).toSorted();
  const text = sorted.map((value) => (query.format === 'hosts' ? `0.0.0.0 ${value}\n` : `${value}\n`)).join('');
  return { text, isComplete: after === undefined && values.length <= valuesMax, unassigned };
}

const listValues = (item: FeedItem): ObservableIndicator[] => [
  ...Object.values(item.iocs).flat(),
  ...listNetworks(item),
];

type BlocklistFilter = { types: string[]; minConfidence: number };

/** Adds the values to block by the form that is compared. */
function collectValues(item: FeedItem, { types, minConfidence }: BlocklistFilter, found: Map<string, string>): void {
  for (const { type, normalizedValue, status, confidence } of listValues(item)) {
    if (!types.includes(type)) continue;
    if (status === 'active' && confidence >= minConfidence && !/[\r\n]/.test(normalizedValue))
      found.set(toComparisonForm(normalizedValue), normalizedValue);
  }
}

const columns = [
  'value',
  'type',
  'status',
  'confidence',
  'firstSeen',
  'lastSeen',
  'validUntil',
  'severity',
  'tlp',
  'item',
  'title',
  'publisher',
  'malware',
  'actor',
  'role',
];

/** Renders one line per indicator and network, in every status, so that consumers can remove revoked ones (RFC 4180). */
export async function renderCsv(items: FeedItem[]): Promise<string> {
  const lines = await flatMapInSlices(items, (item) => {
    const readNames = createNameReader(item);
    const values: (ObservableIndicator & Pick<Indicator, 'role'>)[] = [
      ...Object.values(item.iocs).flat(),
      ...listNetworks(item),
    ];
    return values.map((value) => {
      const [malware, actor] = [readNames(value, 'malware'), readNames(value, 'actor')];
      return renderLine(item, value, [malware.join('; '), actor.join('; '), value.role ?? '']);
    });
  });
  return [columns.join(','), ...lines, ''].join('\r\n');
}

/** Networks have neither times nor an end. `assigned` are the malware, the actors and the role that the item assigns to the value. */
function renderLine(item: FeedItem, indicator: Indicator | ObservableIndicator, assigned: string[]): string {
  const { normalizedValue, type, status, confidence } = indicator;
  const { firstSeen = '', lastSeen = '' } = 'ttlDays' in indicator ? indicator : {};
  const validUntil =
    'ttlDays' in indicator ? new Date(Math.min(indicatorExpiresAt(indicator, item), 8.64e15)).toISOString() : '';
  const { event, source } = item;
  const rest = [firstSeen, lastSeen, validUntil, event.severity, source.tlp, item.id, event.title, source.publisher];
  return [normalizedValue, type, status, String(confidence), ...rest, ...assigned].map(renderField).join(',');
}

/** Quotes a field. A field that a spreadsheet would evaluate as a formula gets a leading apostrophe. */
function renderField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
