import type { FeedItem, Indicator } from './item.schema.ts';
import { buckets, type Bucket } from './vocabulary.ts';

export const hourMs = 3_600_000;
const dayMs = 86_400_000;

const ttlByBucket: Record<Bucket, number> = {
  ipv4: 30,
  ipv6: 30,
  urls: 30,
  domains: 180,
  hashes: 365,
  files: 365,
  registryKeys: 365,
  processes: 365,
  mobileIds: 365,
  cloudIds: 90,
  certs: 365,
};
const phishingUrlDays = 7;

/** Expiry is judged at the last full UTC hour, so that a page stays the same within one. */
export const fullHour = (now: Date): number => Math.floor(now.getTime() / hourMs) * hourMs;

/**
 * Days that an indicator lives. A source's earlier end wins, a later one is capped at twice the default (spec/feed.md, "ttlDays").
 * `from` and `until` are epoch milliseconds; a part of a day is cut, so that nothing outlives what its source said.
 */
export function ttlDays(bucket: Bucket, given: { phishing?: boolean; from?: number; until?: number }): number {
  const usual = bucket === 'urls' && given.phishing ? phishingUrlDays : ttlByBucket[bucket];
  if (given.from === undefined || given.until === undefined) return usual;
  const days = Math.max(0, Math.floor((given.until - given.from) / dayMs));
  return Math.min(days, 2 * usual);
}

/** The bucket's indicators with the status that holds at `hour`, and when the next active one ends (null: none will). */
export function settleIndicators(item: FeedItem, hour: number): Date | null {
  let next = Infinity;
  for (const bucket of buckets) {
    for (const indicator of item.iocs[bucket]) {
      if (indicator.status !== 'active' && indicator.status !== 'expired') continue;
      const end = indicatorEnd(indicator, item);
      indicator.status = end <= hour ? 'expired' : 'active';
      if (end > hour) next = Math.min(next, end);
    }
  }
  return next === Infinity || next > 8.64e15 ? null : new Date(next);
}

/** A stored document as it reads at `hour`. Only documents whose `next_expiry_at` has come need this. */
export function settleDocument(doc: string, hour: number): string {
  const item = JSON.parse(doc) as FeedItem;
  settleIndicators(item, hour);
  return JSON.stringify(item);
}

/** When an indicator ends, in epoch milliseconds. */
export const indicatorEnd = (indicator: Indicator, { source, addedToFeedAt }: FeedItem): number =>
  Date.parse(indicator.lastSeen ?? source.publishTime ?? addedToFeedAt) + indicator.ttlDays * dayMs;
