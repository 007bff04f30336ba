import { indicatorEnd, settleIndicators } from './expiry.ts';
import type { IndicatorLookup } from './indicator-schema.ts';
import type { Override } from './override-rows.ts';
import type { OverriddenIndicator } from './overrides-schema.ts';
import type { FeedItem, Indicator } from './schema.ts';
import { termValue } from './terms.ts';
import { buckets } from './vocabulary.ts';

type Statement = IndicatorLookup['items'][number];

/** What the reader's organization says of an item itself; undefined where nothing. */
type Said = Pick<Override, 'status' | 'indicators'> | undefined;

/**
 * What an item says of a value at the full UTC hour `hour`, and the organization of it; `forms` are the value's canonical forms as terms.
 * Empty if it says nothing.
 */
export function statementsOf(
  item: FeedItem,
  said: Said,
  { forms, hour }: { forms: ReadonlySet<string>; hour: number },
): (Statement & { normalizedValue: string })[] {
  settleIndicators(item, hour);
  return buckets.flatMap((bucket) =>
    item.iocs[bucket]
      .filter(({ normalizedValue }) => forms.has(termValue('indicator', normalizedValue)))
      .map((indicator) => ({
        itemId: item.id,
        title: item.event.title,
        publisher: item.source.publisher,
        itemStatus: (said?.status as FeedItem['event']['status'] | null | undefined) ?? item.event.status,
        type: indicator.type,
        value: indicator.value,
        normalizedValue: indicator.normalizedValue,
        ...(ownWord(indicator, said) ?? { status: indicator.status, why: whyOf(indicator, item) }),
        confidence: indicator.confidence,
        ...(indicator.firstSeen ? { firstSeen: indicator.firstSeen } : {}),
        ...(indicator.lastSeen ? { lastSeen: indicator.lastSeen } : {}),
        addedToFeedAt: item.addedToFeedAt,
      })),
  );
}

/** What an organization's words say of an indicator; undefined: nothing. */
export const saidOf = (
  words: readonly OverriddenIndicator[] | undefined,
  { type, normalizedValue }: Pick<Indicator, 'type' | 'normalizedValue'>,
): OverriddenIndicator['status'] | undefined =>
  words?.find((one) => one.type === type && one.value === normalizedValue)?.status;

/** The organization's word on an indicator; a false positive stays one in an item that it retracted. */
function ownWord(indicator: Indicator, said: Said): Pick<Statement, 'status' | 'why'> | undefined {
  const words = said?.indicators ? (JSON.parse(said.indicators) as OverriddenIndicator[]) : [];
  const word = saidOf(words, indicator);
  if (said?.status === 'retracted' && (word ?? indicator.status) !== 'false_positive')
    return { status: 'revoked', why: 'the organization retracted its item' };
  return word && { status: word, why: 'the organization says so' };
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
 * The status of a value that several items name: a false positive if any says so; else what those say that do not revoke it, active if one of
 * them is; revoked only if no statement stands.
 */
export function standingOf(statements: Pick<Statement, 'status'>[]): Pick<IndicatorLookup, 'status' | 'why'> {
  const count = (status: Statement['status']): number => statements.filter((one) => one.status === status).length;
  const all = statements.length;
  const said = (status: Statement['status'], words: string): Pick<IndicatorLookup, 'status' | 'why'> => ({
    status,
    why: `${words} in ${count(status)} of ${all} ${all === 1 ? 'statement' : 'statements'}`,
  });
  if (all === 0) return { status: 'unknown', why: 'no item names it' };
  if (count('false_positive') > 0) return said('false_positive', 'marked as a false positive');
  if (count('active') > 0) return said('active', 'active');
  if (count('expired') > 0) return said('expired', 'active in none, expired');
  return said('revoked', 'revoked');
}
