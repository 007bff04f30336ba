import { indicatorEnd } from '../../model/expiry.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';
import { saidOf } from '../../items/overrides/apply-overrides.ts';
import type { OwnWord } from '../own-overrides.ts';
import { percent, stamp, type Common, type StixObject } from './stix-object.ts';
import { observableOf } from './stix-observables.ts';
import { patternOf } from './stix-patterns.ts';

/** The indicators of an item; with each that stands and that everyone may see, its observable and what joins the two. */
export function indicatorObjects(item: FeedItem, word: OwnWord | undefined, common: Common): StixObject[] {
  return buckets
    .flatMap((bucket) => item.iocs[bucket])
    .flatMap((indicator) => objectsOf(item, indicator, { said: saidOf(word?.indicators, indicator), common }));
}

type Given = { said: Indicator['status'] | undefined; common: Common };

/** What the organization calls expired is revoked: it ends by its word, and not at a time. What it calls active has no end. */
function objectsOf(item: FeedItem, indicator: Indicator, { said, common }: Given): StixObject[] {
  const { properties, idOf } = common;
  const { type, value, normalizedValue, status, confidence } = indicator;
  const key = `${type} ${normalizedValue}`;
  const isRevoked =
    properties['revoked'] === true || status === 'revoked' || status === 'false_positive' || said === 'expired';
  const made: StixObject = {
    type: 'indicator',
    id: idOf('indicator', key),
    ...properties,
    ...(isRevoked ? { revoked: true } : {}),
    name: normalizedValue,
    ...(value === normalizedValue ? {} : { description: value }),
    indicator_types: [status === 'false_positive' ? 'benign' : 'malicious-activity'],
    pattern: patternOf(indicator),
    pattern_type: 'stix',
    pattern_version: '2.1',
    ...validity(item, indicator, said === 'active'),
    confidence: percent(confidence),
  };
  const observable = isRevoked || item.source.tlp !== 'CLEAR' ? undefined : observableOf(indicator);
  if (!observable) return [made];
  const basis: StixObject = {
    type: 'relationship',
    id: idOf('relationship', key),
    ...properties,
    relationship_type: 'based-on',
    source_ref: made.id,
    target_ref: observable.id,
  };
  return [made, observable, basis];
}

/** `valid_until` must be later than `valid_from` (STIX 2.1, section 4.7); an end before the first sight moves that. */
function validity(item: FeedItem, indicator: Indicator, isEndless: boolean): Record<string, string> {
  const from = Date.parse(indicator.firstSeen ?? item.source.publishTime ?? item.addedToFeedAt);
  const end = Math.min(indicatorEnd(indicator, item), Date.parse('9999-12-31T23:59:59.999Z'));
  const valid = { valid_from: stamp(new Date(Math.min(from, end - 1)).toISOString()) };
  return isEndless ? valid : { ...valid, valid_until: stamp(new Date(end).toISOString()) };
}
