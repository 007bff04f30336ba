import type { FeedItem } from '../../model/item.schema.ts';
import type { Relationship, RelationshipEnd } from '../relationships/find-relationships.ts';
import type { ObjectContext, StixObject } from './stix-object.ts';
import {
  toCountryObject,
  toSectorObject,
  toTechniqueObject,
  toThreatObject,
  toVulnerabilityObject,
} from './stix-threats.ts';

type Members = { context: ObjectContext; ids: ReadonlySet<string> };

/**
 * Returns the relationships of an item with the passages that state them, and the targeted countries and sectors. Relationships with an
 * object that the item does not export are left out. `ids` are those of the item's valid objects.
 */
export function toRelationshipObjects(item: FeedItem, found: Relationship[], { context, ids }: Members): StixObject[] {
  const { properties, toId } = context;
  const places = new Map<string, StixObject>();
  const toRef = (end: RelationshipEnd): string | undefined => {
    const object = toEndObject(item, end);
    if (object === undefined) return undefined;
    const id = typeof object === 'string' ? toId(object, end.name) : object.id;
    if (typeof object !== 'string' && (end.kind === 'country' || end.kind === 'sector')) places.set(id, object);
    else if (!ids.has(id)) return undefined;
    return id;
  };
  const relationships = new Map<string, StixObject>();
  for (const { type, source, target, passage } of found) {
    const [from, to] = [toRef(source), toRef(target)];
    if (from === undefined || to === undefined || from === to) continue;
    const id = toId('relationship', JSON.stringify([type, from, to]));
    relationships.set(id, {
      type: 'relationship',
      id,
      ...properties,
      relationship_type: toStandardType(type, from, to),
      description: passage,
      source_ref: from,
      target_ref: to,
    });
  }
  return [...places.values(), ...relationships.values()];
}

/**
 * Returns the type that the standard suggests for a statement between two objects (STIX 2.1, appendix B), so that platforms that accept no other
 * import it. In ATT&CK, tools use techniques as well.
 */
function toStandardType(type: Relationship['type'], from: string, to: string): string {
  const [source, target] = [from, to].map((id) => id.split('--')[0]);
  if (type === 'exploits' && source !== 'malware') return 'targets';
  if (type === 'attributed-to' && source === 'malware') return 'authored-by';
  if (source === 'tool' && (type === 'attributed-to' || (type === 'uses' && target !== 'attack-pattern')))
    return 'related-to';
  return type;
}

/** Returns the object of an end, or its type if the object belongs to the item and its id follows from the name. */
function toEndObject({ source: { tlp } }: FeedItem, { kind, name }: RelationshipEnd): StixObject | string {
  switch (kind) {
    case 'actor':
    case 'malware':
    case 'tool':
      return toThreatObject(kind, name, tlp);
    case 'country':
      return toCountryObject(name, tlp);
    case 'sector':
      return toSectorObject(name);
    case 'vulnerability':
      return toVulnerabilityObject(name, tlp);
    case 'technique':
      return toTechniqueObject({ id: name, name }, tlp);
    case 'indicator':
      return 'indicator';
  }
}
