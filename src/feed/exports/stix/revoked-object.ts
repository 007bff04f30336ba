import type { FeedItem } from '../../model/item.schema.ts';
import { stamp, stampModified, type StixObject } from './stix-object.ts';

/** What each type must have, said without content. */
const requiredByType: Record<string, (at: string, id: string) => Record<string, unknown>> = {
  report: (published, id) => ({ name: 'Withdrawn', published, object_refs: [id] }),
  indicator: (valid_from) => ({ pattern: "[x-tocsin:withdrawn = 'true']", pattern_type: 'stix', valid_from }),
  malware: () => ({ name: 'Withdrawn', is_family: true }),
  tool: () => ({ name: 'Withdrawn' }),
  vulnerability: () => ({ name: 'Withdrawn' }),
  'intrusion-set': () => ({ name: 'Withdrawn' }),
  'attack-pattern': () => ({ name: 'Withdrawn' }),
};

/** The last version of an object that its item no longer has, or whose content the reader may no longer see. Undefined for other types. */
export function goneObject(
  type: string,
  id: string,
  item: Pick<FeedItem, 'createdAt' | 'lastUpdated'>,
): StixObject | undefined {
  const required = requiredByType[type]?.(stamp(item.createdAt), id);
  return (
    required && {
      type,
      spec_version: '2.1',
      id,
      created: stamp(item.createdAt),
      modified: stampModified(item.lastUpdated),
      revoked: true,
      ...required,
    }
  );
}
