import type { FeedItem, Indicator } from './item.schema.ts';
import { buckets } from './vocabulary.ts';
import { indicatorTypes, type IndicatorType } from './values/indicator-types.ts';

export const hourMs = 3_600_000;
const dayMs = 86_400_000;

const phishingUrlDays = 7;

/** Returns the start of the UTC hour in epoch milliseconds. Expiry is evaluated then, so that a page stays the same for an hour. */
export const startOfHour = (now: Date): number => Math.floor(now.getTime() / hourMs) * hourMs;

/**
 * Returns the lifetime of an indicator in days. An earlier end stated by the source wins, and a later one is capped at twice the default.
 * `from` and `until` are epoch milliseconds. Partial days are cut, so that an indicator never outlives the end that
 * its source stated.
 */
export function ttlDays(
  type: IndicatorType,
  { phishing = false, from, until }: { phishing?: boolean; from?: number; until?: number },
): number {
  const defaultDays = type === 'url' && phishing ? phishingUrlDays : indicatorTypes[type].ttlDays;
  if (from === undefined || until === undefined) return defaultDays;
  const days = Math.max(0, Math.floor((until - from) / dayMs));
  return Math.min(days, 2 * defaultDays);
}

/** Sets active indicators to expired, or back, as of `hour`, in place. Returns when the next active one expires, or null if none will. */
export function updateExpiry(item: FeedItem, hour: number): Date | null {
  let next = Infinity;
  for (const bucket of buckets) {
    for (const indicator of item.iocs[bucket]) {
      if (indicator.status !== 'active' && indicator.status !== 'expired') continue;
      const end = indicatorExpiresAt(indicator, item);
      indicator.status = end <= hour ? 'expired' : 'active';
      if (end > hour) next = Math.min(next, end);
    }
  }
  return next === Infinity || next > 8.64e15 ? null : new Date(next);
}

/** Returns a stored document as of `hour`. Only documents whose `next_expiry_at` has passed need this. */
export function updateDocumentExpiry(doc: string, hour: number): string {
  const item = JSON.parse(doc) as FeedItem;
  updateExpiry(item, hour);
  return JSON.stringify(item);
}

/** Returns the time at which an indicator expires, in epoch milliseconds. */
export const indicatorExpiresAt = (indicator: Indicator, { source, addedToFeedAt }: FeedItem): number =>
  Date.parse(indicator.lastSeen ?? source.publishTime ?? addedToFeedAt) + indicator.ttlDays * dayMs;
