import type { FeedItem } from '../../model/item.schema.ts';
import { findStatus, listObservables, type ObservableIndicator } from '../../model/values/observables.ts';
import type { DatedOverride } from '../../items/snapshot/apply-overrides.ts';
import { toModifiedTime, type StixObject, toItemObjectId, toStixTime } from './stix-object.ts';
import { quotePatternString, splitPath } from './stix-patterns.ts';

/** Types that describe what several reports are about. A report that is withdrawn withdraws none of them. */
const subjectTypes = new Set(
  'attack-pattern campaign course-of-action identity infrastructure intrusion-set location malware threat-actor tool vulnerability'.split(
    ' ',
  ),
);

/** Returns whether an object that came as STIX belongs to its item alone: the object that became the item, or one that states something. */
export const belongsToItem = ({ id, type }: Pick<StixObject, 'id' | 'type'>, { externalId }: FeedItem): boolean =>
  id === externalId || !subjectTypes.has(type);

/**
 * Returns a new version of an object that came as STIX, revoked or valid again. An object that its source revoked stays revoked. Returns
 * objects without `modified`, such as observables, unchanged.
 */
export function setRevoked(
  object: StixObject,
  { lastUpdated, isRevoked }: { lastUpdated: string; isRevoked: boolean },
): StixObject {
  if (object['modified'] === undefined) return object;
  return { ...object, modified: toModifiedTime(lastUpdated), ...(isRevoked ? { revoked: true } : {}) };
}

/** Returns whether an object that came as STIX is an indicator whose values are all overridden with a status other than active. */
export function isWithdrawnByOverride(
  object: StixObject,
  item: FeedItem,
  override: DatedOverride | undefined,
): boolean {
  if (!override || override.indicators.length === 0) return false;
  const indicators = listStated(object, listValues(item));
  return (
    indicators.length > 0 &&
    indicators.every((indicator) => (findStatus(override.indicators, indicator) ?? 'active') !== 'active')
  );
}

/**
 * Returns the objects that came as STIX without the indicators all of whose values are false positives of the feed, and without the
 * relationships and sightings of these. An organization that overrides a value as active gets its indicator.
 */
export function leaveOutFalsePositives(
  objects: StixObject[],
  item: FeedItem,
  override: DatedOverride | undefined,
): StixObject[] {
  const indicators = listValues(item);
  const isFalsePositive = (indicator: ObservableIndicator): boolean =>
    indicator.status === 'false_positive' &&
    (findStatus(override?.indicators, indicator) ?? 'false_positive') === 'false_positive';
  const falsePositives = indicators.filter(isFalsePositive);
  if (falsePositives.length === 0) return objects;
  const left = new Set<unknown>();
  for (const object of objects)
    if (listStated(object, falsePositives).length > 0 && listStated(object, indicators).every(isFalsePositive))
      left.add(object.id);
  const isLink = (object: StixObject): boolean => linkRefs.some((name) => left.has(object[name]));
  return objects.filter((object) => !left.has(object.id) && !isLink(object));
}

const listValues = (item: FeedItem): ObservableIndicator[] => [
  ...Object.values(item.iocs).flat(),
  ...listObservables(item),
];

const linkRefs = ['source_ref', 'target_ref', 'sighting_of_ref'];

/** Returns which of the indicators the pattern of an object states. */
export function listStated<T extends ObservableIndicator>(object: StixObject, indicators: T[]): T[] {
  const pattern = object['pattern'];
  if (object.type !== 'indicator' || typeof pattern !== 'string') return [];
  const patternText = pattern.toLowerCase();
  const contains = (value: string): boolean => patternText.includes(quotePatternString(value).toLowerCase());
  const containsPath = (path: string): boolean => {
    const { directory, name } = splitPath(path);
    return directory !== '' && name !== '' && contains(directory) && contains(name);
  };
  return indicators.filter(({ type, value, normalizedValue }) =>
    [value, normalizedValue].some((text) => contains(text) || (type === 'file_path' && containsPath(text))),
  );
}

/** The required properties of each type, without content. */
const requiredByType: Record<string, (at: string, id: string, reportId: string) => Record<string, unknown>> = {
  report: (published, id) => ({ name: 'Withdrawn', published, object_refs: [id] }),
  indicator: (valid_from) => ({ pattern: "[x-tocsin:withdrawn = 'true']", pattern_type: 'stix', valid_from }),
  malware: () => ({ name: 'Withdrawn', is_family: true }),
  tool: () => ({ name: 'Withdrawn' }),
  'intrusion-set': () => ({ name: 'Withdrawn' }),
  vulnerability: () => ({ name: 'Withdrawn' }),
  'attack-pattern': () => ({ name: 'Withdrawn' }),
  relationship: (_at, _id, report) => ({ relationship_type: 'related-to', source_ref: report, target_ref: report }),
};

/** Returns whether `toRevokedObject` can revoke objects of a type. */
export const isRevocable = (type: string): boolean => Object.hasOwn(requiredByType, type);

/**
 * Returns the last version of an object that its item no longer contains, or whose content the reader may no longer see. A relationship then
 * refers to the report of its item. `created` is the creation time of an object that came as STIX. Returns undefined for types that cannot be revoked.
 */
export function toRevokedObject(
  { type, id, created = null }: { type: string; id: string; created?: string | null },
  { id: itemId, createdAt, lastUpdated }: FeedItem,
): StixObject | undefined {
  const createdTime = created ?? toStixTime(createdAt);
  const required = requiredByType[type]?.(createdTime, id, toItemObjectId(itemId, 'report', ''));
  const modified = toModifiedTime(lastUpdated);
  return required && { type, spec_version: '2.1', id, created: createdTime, modified, revoked: true, ...required };
}
