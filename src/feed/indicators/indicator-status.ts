import { applyOverride, overriddenStatus, type AppliedOverride } from '../items/overrides/apply-overrides.ts';
import { indicatorExpiresAt, updateExpiry } from '../model/expiry.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { toTermValue } from '../model/terms.ts';
import { buckets } from '../model/vocabulary.ts';
import type { StatusCounts } from './indicator-lookup.store.ts';
import type { IndicatorLookup } from './indicators.schema.ts';

export type LookupItem = IndicatorLookup['items'][number];
export type LookupItemWithForm = LookupItem & { normalizedValue: string };

/**
 * Returns the indicators of an item that match a value, with their status at the full UTC hour `hour` and the reason for it. `terms` are the
 * canonical forms of the value. Empty if the item does not contain the value.
 */
export function toLookupItems(
  item: FeedItem,
  override: AppliedOverride | undefined,
  { terms, hour }: { terms: ReadonlySet<string>; hour: number },
): LookupItemWithForm[] {
  updateExpiry(item, hour);
  const itemAsSeen = applyOverride(item, override);
  return buckets.flatMap((bucket) =>
    item.iocs[bucket].flatMap((indicator, index) => {
      if (!terms.has(toTermValue('indicator', indicator.normalizedValue))) return [];
      const { status } = itemAsSeen.iocs[bucket][index]!;
      return {
        itemId: item.id,
        title: item.event.title,
        publisher: item.source.publisher,
        itemStatus: override?.status ?? item.event.status,
        type: indicator.type,
        value: indicator.value,
        normalizedValue: indicator.normalizedValue,
        status,
        why: explainOverride(indicator, override, status) ?? explainStatus(indicator, item),
        confidence: indicator.confidence,
        ...(indicator.firstSeen ? { firstSeen: indicator.firstSeen } : {}),
        ...(indicator.lastSeen ? { lastSeen: indicator.lastSeen } : {}),
        addedToFeedAt: item.addedToFeedAt,
      };
    }),
  );
}

/** Explains a status that the organization's override decided. */
function explainOverride(
  indicator: Indicator,
  override: AppliedOverride | undefined,
  status: Indicator['status'],
): string | undefined {
  if (override?.status === 'retracted' && status === 'revoked') return 'the organization retracted its item';
  return overriddenStatus(override?.indicators, indicator) === status ? 'set by the organization' : undefined;
}

function explainStatus(indicator: Indicator, item: FeedItem): string {
  const expiresAt = new Date(indicatorExpiresAt(indicator, item));
  const time = Number.isNaN(expiresAt.getTime()) ? 'an unknown time' : expiresAt.toISOString();
  const start = indicator.lastSeen ? 'last seen' : item.source.publishTime ? 'published' : 'added';
  switch (indicator.status) {
    case 'false_positive':
      return 'marked as a false positive';
    case 'revoked':
      return item.event.status === 'retracted' ? 'its item was retracted' : 'its source revoked it';
    case 'expired':
      return `expired at ${time}, ${indicator.ttlDays} days after it was ${start}`;
    case 'active':
      return `valid until ${time}, ${indicator.ttlDays} days after it was ${start}`;
  }
}

/**
 * Summarizes the status of a value over all items that contain it. The strongest status wins: false positive, then active, expired and
 * revoked.
 */
export function summarizeStatus(counts: StatusCounts): Pick<IndicatorLookup, 'status' | 'why' | 'total'> {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const summary = (status: Indicator['status'], reason: string): ReturnType<typeof summarizeStatus> => ({
    status,
    why: `${reason} in ${counts[status]} of ${total} ${total === 1 ? 'item' : 'items'}`,
    total,
  });
  if (total === 0) return { status: 'unknown', why: 'no item contains it', total };
  if (counts.false_positive > 0) return summary('false_positive', 'marked as a false positive');
  if (counts.active > 0) return summary('active', 'active');
  if (counts.expired > 0) return summary('expired', 'not active in any item, expired');
  return summary('revoked', 'revoked');
}
