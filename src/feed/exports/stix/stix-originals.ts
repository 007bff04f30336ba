import type { FeedItem } from '../../model/item.schema.ts';
import { overriddenStatus } from '../../items/overrides/apply-overrides.ts';
import type { DatedOverride } from '../dated-override.ts';
import { toModifiedTime, type StixObject } from './stix-object.ts';
import { quotePatternString } from './stix-patterns.ts';

/**
 * Returns a new version of an object that came as STIX, revoked or valid again. Returns the object unchanged if its source revoked it, and for
 * objects without such a state: identities and objects without `modified`, such as observables.
 */
export function setRevoked(
  object: StixObject,
  { lastUpdated, isRevoked }: { lastUpdated: string; isRevoked: boolean },
): StixObject {
  if (object['modified'] === undefined || object['revoked'] === true || object.type === 'identity') return object;
  return { ...object, modified: toModifiedTime(lastUpdated), ...(isRevoked ? { revoked: true } : {}) };
}

/** Whether an object that came as STIX is an indicator whose values are all overridden with a status other than active. */
export function isWithdrawnByOverride(
  object: StixObject,
  { iocs }: FeedItem,
  override: DatedOverride | undefined,
): boolean {
  const pattern = object['pattern'];
  if (!override || override.indicators.length === 0 || object.type !== 'indicator' || typeof pattern !== 'string')
    return false;
  const patternText = pattern.toLowerCase();
  const contains = (value: string): boolean => patternText.includes(quotePatternString(value).toLowerCase());
  const indicators = Object.values(iocs)
    .flat()
    .filter(({ value, normalizedValue }) => contains(value) || contains(normalizedValue));
  return (
    indicators.length > 0 &&
    indicators.every((indicator) => (overriddenStatus(override.indicators, indicator) ?? 'active') !== 'active')
  );
}
