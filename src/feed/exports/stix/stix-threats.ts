import { nameKey } from '../../reference-data/name-forms.ts';
import { findAttackId } from '../../extraction/names/dictionary/attack-id.ts';
import { getShippedNames, type NamedEntity } from '../../extraction/names/dictionary/name-dictionary.ts';
import { findShippedTechniqueName } from '../../reference-data/attack.ts';
import { tlps, type Tlp } from '../../model/vocabulary.ts';
import { countryName } from '../../model/target-forms.ts';
import {
  sharedNamespace,
  sharedObjectsAt,
  toModifiedTime,
  toStixTime,
  toTlpMarking,
  uuidv5,
  type StixObject,
  type ObjectContext,
} from './stix-object.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import type { Relationship, RelationshipEnd } from '../relationships/find-relationships.ts';

type ThreatKind = NamedEntity['kind'];
const typeByKind = { actor: 'intrusion-set', malware: 'malware', tool: 'tool' } as const;
const sharedTypes = new Set<string>([
  ...Object.values(typeByKind),
  'vulnerability',
  'attack-pattern',
  'location',
  'identity',
]);

/**
 * Returns whether items share an object that we write: one of `toThreatObject`, `toVulnerabilityObject`, `toTechniqueObject`, `toCountryObject`,
 * `toSectorObject` or `toIdentity`, a marking or an observable. Objects that came as STIX belong to their item.
 */
export const isSharedObject = ({ type, created }: StixObject): boolean =>
  created === undefined ||
  type === 'marking-definition' ||
  (sharedTypes.has(type) && created === toStixTime(sharedObjectsAt));

/**
 * Returns the object of an actor, a malware or a tool, or of a targeted country or sector. Its id and content depend only on the canonical
 * name, the release and the marking of the item, so that all items share the object. The version with the loosest marking is the latest: a
 * name that one public item contains is public.
 */
export function toThreatObject(kind: ThreatKind, name: string, tlp: Tlp): StixObject {
  const threat = findKnown(kind, name);
  const type = typeByKind[threat?.kind ?? kind];
  return toSharedObject(type, threat?.name ?? name, tlp, {
    name: threat?.name ?? name,
    ...(threat && threat.aliases.length > 0 ? { aliases: [...new Set(threat.aliases)] } : {}),
    ...(type === 'malware' ? { is_family: true } : {}),
    ...toAttackReference(kind, threat?.name ?? name),
  });
}

/** References the page of ATT&CK. Other platforms merge the object with their own by its id. */
function toAttackReference(kind: ThreatKind, name: string): Record<string, unknown> {
  const id = findAttackId(kind, name);
  const url = `https://attack.mitre.org/${kind === 'actor' ? 'groups' : 'software'}/${id}`;
  return id ? { external_references: [{ source_name: 'mitre-attack', external_id: id, url }] } : {};
}

/** Returns the object of a CVE. */
export const toVulnerabilityObject = (id: string, tlp: Tlp): StixObject =>
  toSharedObject('vulnerability', id, tlp, {
    name: id,
    external_references: [{ source_name: 'cve', external_id: id }],
  });

/**
 * Returns the object of a technique by its id. It does not have the id of ATT&CK's object, because only MITRE may publish versions of that. It
 * refers to the technique's page instead. `name` is the name of a technique that the release does not contain.
 */
export const toTechniqueObject = ({ id, name }: { id: string; name: string }, tlp: Tlp): StixObject =>
  toSharedObject('attack-pattern', id, tlp, {
    name: findShippedTechniqueName(id) ?? name,
    external_references: [
      {
        source_name: 'mitre-attack',
        external_id: id,
        url: `https://attack.mitre.org/techniques/${id.replace('.', '/')}`,
      },
    ],
  });

/** Returns the location of a targeted country by its code. */
const toCountryObject = (code: string, tlp: Tlp): StixObject =>
  toSharedObject('location', code, tlp, { name: countryName(code) ?? code, country: code });

/** Returns the identity of a targeted sector of STIX. It has no marking, like the identities of publishers. */
const toSectorObject = (sector: string): StixObject => ({
  type: 'identity',
  spec_version: '2.1',
  id: `identity--${uuidv5(sharedNamespace, `sector ${sector}`)}`,
  created: toStixTime(sharedObjectsAt),
  modified: toModifiedTime(sharedObjectsAt),
  name: sector,
  identity_class: 'class',
  sectors: [sector],
});

function toSharedObject(type: string, key: string, tlp: Tlp, content: Record<string, unknown>): StixObject {
  const looseness = tlps.length - 1 - tlps.indexOf(tlp);
  const modifiedAt = new Date(Date.parse(sharedObjectsAt) + looseness).toISOString();
  return {
    type,
    spec_version: '2.1',
    id: `${type}--${uuidv5(sharedNamespace, `${type} ${key}`)}`,
    created: toStixTime(sharedObjectsAt),
    modified: toModifiedTime(modifiedAt),
    object_marking_refs: [toTlpMarking(tlp).id],
    ...content,
  };
}

/** Finds a name in the shipped list by its main name. The list is the same in every installation of a release. */
function findKnown(kind: ThreatKind, name: string): NamedEntity | undefined {
  const key = nameKey(name);
  return getShippedNames()
    .get(key)
    ?.entities.find((one) => (one.kind === 'actor') === (kind === 'actor') && nameKey(one.name) === key);
}

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
