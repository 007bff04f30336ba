import { indicatorEnd } from '../model/expiry.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';

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
];

/** A line for each indicator of the items, in every status, so that what was taken back can be taken out again. */
export function csvOf(items: FeedItem[]): string {
  const lines = items.flatMap((item) =>
    Object.values(item.iocs)
      .flat()
      .map((indicator) => csvLine(item, indicator)),
  );
  return [columns.join(','), ...lines, ''].join('\r\n');
}

function csvLine(item: FeedItem, indicator: Indicator): string {
  const { normalizedValue, type, status, confidence, firstSeen = '', lastSeen = '' } = indicator;
  const until = new Date(Math.min(indicatorEnd(indicator, item), 8.64e15)).toISOString();
  const { event, source } = item;
  const rest = [firstSeen, lastSeen, until, event.severity, source.tlp, item.id, event.title, source.publisher];
  return [normalizedValue, type, status, String(confidence), ...rest].map(csvField).join(',');
}

/** RFC 4180. A field that a spreadsheet would take for a formula begins with an apostrophe. */
function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export type Wanted = { types: string[]; minConfidence: number };

/** Adds the active values of an item that are wanted, and names those that someone called false. */
export function collectActive(
  item: FeedItem,
  wanted: Wanted,
  found: { active: Set<string>; denied: Set<string> },
): void {
  for (const { type, normalizedValue, status, confidence } of Object.values(item.iocs).flat()) {
    if (!wanted.types.includes(type)) continue;
    if (status === 'false_positive') found.denied.add(normalizedValue);
    if (status === 'active' && confidence >= wanted.minConfidence && !/[\r\n]/.test(normalizedValue))
      found.active.add(normalizedValue);
  }
}
