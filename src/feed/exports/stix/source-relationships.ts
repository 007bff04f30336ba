import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import { listStated } from './stix-originals.ts';
import type { StixObject } from './stix-object.ts';
import { softwareKind } from '../relationships/find-mentions.ts';
import { toIndicatorName, type Relationship, type RelationshipEnd } from '../relationships/find-relationships.ts';

const types = new Set<unknown>([
  'uses',
  'targets',
  'exploits',
  'attributed-to',
  'indicates',
] satisfies Relationship['type'][]);

/**
 * Returns the relationships between objects that came as STIX, with the names under which the item lists them. The passage of a relationship
 * is its description, or else what it connects and its id.
 */
export function readSourceRelationships(item: FeedItem, originals: StixObject[]): Relationship[] {
  const byId = new Map(originals.map((object) => [object.id, object]));
  const indicators = Object.values(item.iocs)
    .flat()
    .filter(({ status }) => status === 'active' || status === 'expired');
  const readEnds = (id: unknown): RelationshipEnd[] => {
    const object = typeof id === 'string' ? byId.get(id) : undefined;
    return object ? toEnds(object, item, indicators) : [];
  };
  return originals.flatMap((object) => {
    const { relationship_type: type, source_ref, target_ref, description } = object;
    if (object.type !== 'relationship' || !types.has(type) || object['revoked'] === true) return [];
    const link = `${nameOf(byId.get(String(source_ref)))} ${String(type)} ${nameOf(byId.get(String(target_ref)))}`;
    const passage = typeof description === 'string' && description !== '' ? description : `${link} (${object.id})`;
    return readEnds(source_ref).flatMap((source) =>
      readEnds(target_ref).map((target) => ({ type: type as Relationship['type'], source, target, passage })),
    );
  });
}

function toEnds(object: StixObject, { classification }: FeedItem, indicators: Indicator[]): RelationshipEnd[] {
  const name = nameOf(object);
  const find = (names: FeedItem['classification']['actor']): string[] =>
    names.flatMap((one) => ([one.name, ...one.aliases].includes(name) ? one.name : [])).slice(0, 1);
  switch (object.type) {
    case 'indicator':
      return listStated(object, indicators).map((one) => ({ kind: 'indicator', name: toIndicatorName(one) }));
    case 'intrusion-set':
    case 'threat-actor':
      return find(classification.actor).map((actor) => ({ kind: 'actor', name: actor }));
    case 'malware':
    case 'tool':
      return find(classification.malware).map((one) => ({ kind: softwareKind(classification, one), name: one }));
    case 'vulnerability':
      return [{ kind: 'vulnerability', name: name.trim().toUpperCase() }];
    case 'attack-pattern':
      return listTechniques(object).map((id) => ({ kind: 'technique', name: id }));
    case 'identity':
      return listTexts(object['sectors']).map((sector) => ({ kind: 'sector', name: sector }));
    case 'location':
      return typeof object['country'] === 'string' ? [{ kind: 'country', name: object['country'].toUpperCase() }] : [];
    default:
      return [];
  }
}

const nameOf = (object: StixObject | undefined): string =>
  typeof object?.['name'] === 'string' ? object['name'] : (object?.type ?? '');

const listTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

const listTechniques = (object: StixObject): string[] =>
  (Array.isArray(object['external_references']) ? object['external_references'] : []).flatMap((reference) => {
    const id: unknown = reference?.external_id;
    return typeof id === 'string' && /^T\d{4}(?:\.\d{3})?$/.test(id) ? id : [];
  });
