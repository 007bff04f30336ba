import { overriddenStatus } from '../../items/overrides/apply-overrides.ts';
import { indicatorExpiresAt } from '../../model/expiry.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';
import type { DatedOverride } from '../dated-override.ts';
import { toPercent, toStixTime, type ObjectContext, type StixObject } from './stix-object.ts';
import { toObservable } from './stix-observables.ts';
import { toPattern } from './stix-patterns.ts';

/**
 * Returns the indicators of an item without its false positives. A valid indicator of a CLEAR item comes with its observable and the
 * relationship between them.
 */
export function toIndicatorObjects(
  item: FeedItem,
  override: DatedOverride | undefined,
  context: ObjectContext,
): StixObject[] {
  return buckets
    .flatMap((bucket) => item.iocs[bucket])
    .filter(({ status }) => status !== 'false_positive')
    .flatMap((indicator) =>
      toObjects(item, indicator, { ownStatus: overriddenStatus(override?.indicators, indicator), context }),
    );
}

type IndicatorContext = { ownStatus: Indicator['status'] | undefined; context: ObjectContext };

/** An indicator that the organization overrides as expired is revoked. One that it overrides as active has no end of validity. */
function toObjects(item: FeedItem, indicator: Indicator, { ownStatus, context }: IndicatorContext): StixObject[] {
  const { properties, toId } = context;
  const { type, value, normalizedValue, status, confidence } = indicator;
  const key = `${type} ${normalizedValue}`;
  const isRevoked = properties['revoked'] === true || status === 'revoked' || ownStatus === 'expired';
  const stixIndicator: StixObject = {
    type: 'indicator',
    id: toId('indicator', key),
    ...properties,
    ...(isRevoked ? { revoked: true } : {}),
    name: normalizedValue,
    ...(value === normalizedValue ? {} : { description: value }),
    indicator_types: ['malicious-activity'],
    pattern: toPattern(indicator),
    pattern_type: 'stix',
    pattern_version: '2.1',
    ...toValidity(item, indicator, ownStatus === 'active'),
    confidence: toPercent(confidence),
  };
  const observable = isRevoked || item.source.tlp !== 'CLEAR' ? undefined : toObservable(indicator);
  if (!observable) return [stixIndicator];
  const relationship: StixObject = {
    type: 'relationship',
    id: toId('relationship', key),
    ...properties,
    relationship_type: 'based-on',
    source_ref: stixIndicator.id,
    target_ref: observable.id,
  };
  return [stixIndicator, observable, relationship];
}

/** `valid_until` must be later than `valid_from` (STIX 2.1, section 4.7). If the end is before the first sighting, `valid_from` moves. */
function toValidity(item: FeedItem, indicator: Indicator, isEndless: boolean): Record<string, string> {
  const start = Date.parse(indicator.firstSeen ?? item.source.publishTime ?? item.addedToFeedAt);
  const end = Math.min(indicatorExpiresAt(indicator, item), Date.parse('9999-12-31T23:59:59.999Z'));
  const validFrom = { valid_from: toStixTime(new Date(Math.min(start, end - 1)).toISOString()) };
  return isEndless ? validFrom : { ...validFrom, valid_until: toStixTime(new Date(end).toISOString()) };
}
