import { indicatorExpiresAt } from '../../model/expiry.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import {
  findStatus,
  listObservables,
  type ObservableIndicator,
  type SeenItem,
} from '../../model/values/observables.ts';
import { buckets } from '../../model/vocabulary.ts';
import type { DatedOverride } from '../../items/snapshot/apply-overrides.ts';
import {
  toPercent,
  toStixTime,
  type ObjectContext,
  type StixObject,
  observableNamespace,
  uuidv5,
} from './stix-object.ts';
import { toObservablePattern, toPattern } from './stix-patterns.ts';
import { indicatorTypes, isIndicatorType } from '../../model/values/indicator-types.ts';

/**
 * Returns the indicators of an item without its false positives, and those of its observables that STIX has an object for, such as networks. A
 * valid indicator of a CLEAR item comes with its observable and the relationship between them.
 */
export function toIndicatorObjects(
  item: SeenItem,
  override: DatedOverride | undefined,
  context: ObjectContext,
): StixObject[] {
  const indicators = buckets
    .flatMap((bucket) => item.iocs[bucket])
    .map((indicator) => {
      const ownStatus = findStatus(override?.indicators, indicator);
      const validity = toValidity(item, indicator, ownStatus === 'active');
      return { indicator, pattern: toPattern(indicator), validity, isExpired: ownStatus === 'expired' };
    });
  const observables = listObservables(item).flatMap((indicator) => {
    const pattern = toObservablePattern(indicator);
    const validity = { valid_from: toStixTime(item.source.publishTime ?? item.addedToFeedAt) };
    return pattern ? [{ indicator, pattern, validity, isExpired: indicator.status === 'expired' }] : [];
  });
  return [...indicators, ...observables]
    .filter(({ indicator }) => indicator.status !== 'false_positive')
    .flatMap((one) => toObjects(item, one, context));
}

type PatternedIndicator = {
  indicator: ObservableIndicator;
  pattern: string;
  validity: Record<string, string>;
  isExpired: boolean;
};

/** An indicator that the organization overrides as expired is revoked. One that it overrides as active has no end of validity. */
function toObjects(
  item: FeedItem,
  { indicator, pattern, validity, isExpired }: PatternedIndicator,
  { properties, toId }: ObjectContext,
): StixObject[] {
  const { type, value, normalizedValue, status, confidence } = indicator;
  const key = `${type} ${normalizedValue}`;
  const isRevoked = properties['revoked'] === true || status === 'revoked' || isExpired;
  const stixIndicator: StixObject = {
    type: 'indicator',
    id: toId('indicator', key),
    ...properties,
    ...(isRevoked ? { revoked: true } : {}),
    name: normalizedValue,
    ...(value === normalizedValue ? {} : { description: value }),
    indicator_types: ['malicious-activity'],
    pattern,
    pattern_type: 'stix',
    pattern_version: '2.1',
    ...validity,
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

/** Observables that are no indicators: their type and the properties from which its id is derived. */
const byObservable: Record<string, (value: string) => [type: string, properties: Record<string, unknown>]> = {
  cidr: (value) => [value.includes(':') ? 'ipv6-addr' : 'ipv4-addr', { value }],
  email: (value) => ['email-addr', { value }],
  'email-src': (value) => ['email-addr', { value }],
  mac: (value) => ['mac-addr', { value }],
  mutex: (name) => ['mutex', { name }],
};

function findProperties(type: string, value: string): [type: string, properties: Record<string, unknown>] | undefined {
  if (!isIndicatorType(type)) return byObservable[type]?.(value);
  const { object, path, hasObservable } = indicatorTypes[type].stix;
  const [property, key] = path;
  return hasObservable(value) ? [object, { [property]: key === undefined ? value : { [key]: value } }] : undefined;
}

/**
 * Returns the observable of a value with the standard's deterministic id: a UUIDv5 over the canonical JSON (RFC 8785) of the contributing
 * properties. Returns undefined if STIX has no such object, or none whose id follows from the value.
 */
export function toObservable(indicator: Pick<Indicator, 'type' | 'normalizedValue'>): StixObject | undefined {
  const found = findProperties(indicator.type, indicator.normalizedValue);
  if (!found) return undefined;
  const [type, properties] = found;
  // An object with a single property is canonical JSON already.
  const id = uuidv5(observableNamespace, JSON.stringify(properties));
  return { type, spec_version: '2.1', id: `${type}--${id}`, ...properties };
}

/** Returns the value of an object that `toObservable` returned. */
export function toObservableValue({ value, name, key, serial_number: serial, hashes }: StixObject): string {
  return String(value ?? name ?? key ?? serial ?? Object.values(hashes as Record<string, string>)[0]);
}
