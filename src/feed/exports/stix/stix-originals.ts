import type { FeedItem } from '../../model/item.schema.ts';
import { saidOf } from '../../items/overrides/apply-overrides.ts';
import type { OwnWord } from '../own-overrides.ts';
import { stampModified, type StixObject } from './stix-object.ts';
import { quoted } from './stix-patterns.ts';

/** An object of others that is revoked, or stands again after that; observables, and what describes others, have no such state. */
export function restate(object: StixObject, modified: string, revoked: boolean): StixObject {
  if (object['modified'] === undefined || object['revoked'] === true || object.type === 'identity') return object;
  return { ...object, modified: stampModified(modified), ...(revoked ? { revoked } : {}) };
}

/** Whether an object of others is an indicator of nothing but values that, by a word, are not to be acted on. */
export function isTaken(object: StixObject, { iocs }: FeedItem, word: OwnWord | undefined): boolean {
  const pattern = object['pattern'];
  if (!word || word.indicators.length === 0 || object.type !== 'indicator' || typeof pattern !== 'string') return false;
  const text = pattern.toLowerCase();
  const named = Object.values(iocs)
    .flat()
    .filter(({ value, normalizedValue }) =>
      [value, normalizedValue].some((one) => text.includes(quoted(one).toLowerCase())),
    );
  return named.length > 0 && named.every((indicator) => (saidOf(word.indicators, indicator) ?? 'active') !== 'active');
}
