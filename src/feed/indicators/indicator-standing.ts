import { asSaid, saidOf, type Said } from '../items/overrides/apply-overrides.ts';
import { indicatorEnd, settleIndicators } from '../model/expiry.ts';
import type { IndicatorLookup } from './indicators.schema.ts';
import type { Counts } from './indicator-counts.store.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { termValue } from '../model/terms.ts';
import { buckets } from '../model/vocabulary.ts';

type Statement = IndicatorLookup['items'][number];

/**
 * What an item says of a value at the full UTC hour `hour`, and the organization of it; `forms` are the value's canonical forms as terms.
 * Empty if it says nothing.
 */
export function statementsOf(
  item: FeedItem,
  said: Said | undefined,
  { forms, hour }: { forms: ReadonlySet<string>; hour: number },
): (Statement & { normalizedValue: string })[] {
  settleIndicators(item, hour);
  const seen = asSaid(item, said);
  return buckets.flatMap((bucket) =>
    item.iocs[bucket].flatMap((indicator, index) => {
      if (!forms.has(termValue('indicator', indicator.normalizedValue))) return [];
      const { status } = seen.iocs[bucket][index]!;
      return {
        itemId: item.id,
        title: item.event.title,
        publisher: item.source.publisher,
        itemStatus: said?.status ?? item.event.status,
        type: indicator.type,
        value: indicator.value,
        normalizedValue: indicator.normalizedValue,
        status,
        why: saidWhy(indicator, said, status) ?? whyOf(indicator, item),
        confidence: indicator.confidence,
        ...(indicator.firstSeen ? { firstSeen: indicator.firstSeen } : {}),
        ...(indicator.lastSeen ? { lastSeen: indicator.lastSeen } : {}),
        addedToFeedAt: item.addedToFeedAt,
      };
    }),
  );
}

/** Why an indicator stands as it does where the organization's word decides; undefined where it does not. */
function saidWhy(indicator: Indicator, said: Said | undefined, status: Indicator['status']): string | undefined {
  if (said?.status === 'retracted' && status === 'revoked') return 'the organization retracted its item';
  return saidOf(said?.indicators, indicator) === status ? 'the organization says so' : undefined;
}

function whyOf(indicator: Indicator, item: FeedItem): string {
  const end = new Date(indicatorEnd(indicator, item));
  const when = Number.isNaN(end.getTime()) ? 'an unknown time' : end.toISOString();
  const from = indicator.lastSeen ? 'last seen' : item.source.publishTime ? 'published' : 'added';
  switch (indicator.status) {
    case 'false_positive':
      return 'marked as a false positive';
    case 'revoked':
      return item.event.status === 'retracted' ? 'its item was retracted' : 'its source revoked it';
    case 'expired':
      return `ended ${when}, ${indicator.ttlDays} days after it was ${from}`;
    case 'active':
      return `good until ${when}, ${indicator.ttlDays} days after it was ${from}`;
  }
}

/**
 * The status of a value that items name, and how many do: a false positive if any says so; else what those say that do not revoke it, active if one of them
 * is; revoked only if no statement stands.
 */
export function standingOf(counts: Counts): Pick<IndicatorLookup, 'status' | 'why' | 'total'> {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const said = (status: Statement['status'], words: string): ReturnType<typeof standingOf> => ({
    status,
    why: `${words} in ${counts[status]} of ${total} ${total === 1 ? 'item' : 'items'}`,
    total,
  });
  if (total === 0) return { status: 'unknown', why: 'no item names it', total };
  if (counts.false_positive > 0) return said('false_positive', 'marked as a false positive');
  if (counts.active > 0) return said('active', 'active');
  if (counts.expired > 0) return said('expired', 'active in none, expired');
  return said('revoked', 'revoked');
}
