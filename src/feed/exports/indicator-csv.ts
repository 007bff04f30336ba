import { flatMapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { indicatorExpiresAt } from '../model/expiry.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { createNameReader } from '../model/value-names.ts';
import { listNetworks, type ObservableIndicator } from '../model/values/observables.ts';

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
