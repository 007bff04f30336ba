import type { FeedItem } from '../../model/item.schema.ts';
import { toItemObjectId, toStixTime, toModifiedTime, type StixObject } from './stix-object.ts';

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
