import type { FeedItem } from '../../model/item.schema.ts';
import { applyDatedOverride, type DatedOverride } from '../../items/snapshot/apply-overrides.ts';
import { softwareKind } from '../relationships/find-mentions.ts';
import { findRelationships } from '../relationships/find-relationships.ts';
import { toIndicatorObjects } from './stix-indicators.ts';
import { toRelationshipObjects, toTechniqueObject, toThreatObject, toVulnerabilityObject } from './stix-threats.ts';
import { countUnsupportedByStix, type UnsupportedFields, sumUnsupported } from './stix-patterns.ts';
import { belongsToItem, isWithdrawnByOverride, leaveOutFalsePositives, setRevoked } from './stix-originals.ts';
import {
  toIdentity,
  toItemObjectId,
  toPercent,
  toStixTime,
  toModifiedTime,
  toTlpMarking,
  type ObjectContext,
  type StixObject,
  observableNamespace,
  uuidv5,
} from './stix-object.ts';

/** A version of an item, and the overrides of the organization that reads it, oldest first. The last one is in force. */
export type ItemVersion = {
  item: FeedItem;
  /** The STIX objects from which the item was made, null for other sources. */
  originals: StixObject[] | null;
  overrides: DatedOverride[];
  /** The stored text, from which relationships are read. Null if it was not read. */
  storedText: string | null;
  /** A person made this version or an earlier one by retracting or restoring the item. */
  wasChangedByPerson: boolean;
  /** Ids of objects that a live item contains as well. If this item is retracted, they stay valid. */
  liveElsewhere?: ReadonlySet<string>;
};

/**
 * Returns the STIX 2.1 objects of an item. Equal versions with equal overrides have equal objects, and every other has a later `modified`.
 * Objects that came as STIX are returned unchanged, except those that a person withdrew and without false positives.
 */
export function toStixItem(version: ItemVersion): { objects: StixObject[]; unsupported: UnsupportedFields } {
  const { item: shared, originals, overrides, wasChangedByPerson, storedText } = version;
  const override = overrides.at(-1);
  const item = applyDatedOverride(shared, override);
  const isRetracted = item.event.status === 'retracted';
  if (originals) {
    const { lastUpdated } = item;
    // An object that was ever withdrawn needs a later `modified`, also if it is valid again.
    const wasItemWithdrawn =
      isRetracted || wasChangedByPerson || overrides.some(({ status }) => status === 'retracted');
    const objects = leaveOutFalsePositives(originals, shared, override).map((object) => {
      if (!belongsToItem(object, item)) return object;
      const wasWithdrawn =
        wasItemWithdrawn || overrides.some((earlier) => isWithdrawnByOverride(object, shared, earlier));
      const isOverridden = isWithdrawnByOverride(object, shared, override);
      if (isRetracted && !isOverridden && version.liveElsewhere?.has(object.id)) return object;
      const isRevoked = isRetracted || isOverridden;
      return wasWithdrawn ? setRevoked(object, { lastUpdated, isRevoked }) : object;
    });
    return { objects, unsupported: {} };
  }
  const publisher = toIdentity(item.source.publisher);
  const marking = toTlpMarking(item.source.tlp);
  const context: ObjectContext = {
    properties: {
      spec_version: '2.1',
      created_by_ref: publisher.id,
      created: toStixTime(item.createdAt),
      modified: toModifiedTime(item.lastUpdated),
      ...(isRetracted ? { revoked: true } : {}),
      object_marking_refs: [marking.id],
    },
    toId: (type, key) => toItemObjectId(item.id, type, key),
  };
  const members = [...toVulnerabilities(item), ...toThreats(item), ...toTechniques(item, context)];
  const indicators = toIndicatorObjects(item, override, context);
  const exported = [...members, ...indicators.filter(({ type }) => type === 'indicator')];
  const ids = new Set(exported.filter((object) => object['revoked'] !== true).map(({ id }) => id));
  const stated = isRetracted ? [] : findRelationships(item, storedText ?? '');
  const relationships = toRelationshipObjects(item, stated, { context, ids });
  const report = toReport(item, context, [...exported, ...relationships]);
  const objects = [marking, publisher, report, ...members, ...indicators, ...relationships];
  return { objects, unsupported: countUnsupportedByStix(item) };
}

function toReport(item: FeedItem, { properties, toId }: ObjectContext, members: StixObject[]): StixObject {
  const { source, event } = item;
  const description = item.abstract ?? item.summary;
  const refs = members.map(({ id }) => id);
  return {
    type: 'report',
    id: toId('report', ''),
    ...properties,
    name: event.title,
    ...(description ? { description } : {}),
    report_types: [item.canonicalKey.startsWith('cve:') ? 'vulnerability' : 'threat-report'],
    published: toStixTime(source.publishTime ?? item.addedToFeedAt),
    // A report must refer to at least one object.
    object_refs: refs.length > 0 ? refs : [properties['created_by_ref']],
    labels: [`severity:${event.severity}`, `status:${event.status}`],
    confidence: toPercent(event.confidence),
    ...(source.language ? { lang: source.language } : {}),
    external_references: toReferences(item),
  };
}

/** A CVE id must have the source name `cve` (STIX 2.1, section 2.5). */
function toReferences({ source, externalId, canonicalKey }: FeedItem): Record<string, string>[] {
  const isCve = /^CVE-\d{4}-\d{4,}$/.test(externalId ?? '');
  const sourceReference = {
    ...(source.url ? { url: source.url } : {}),
    ...(externalId && !isCve ? { external_id: externalId } : {}),
  };
  return [
    ...(Object.keys(sourceReference).length > 0 ? [{ source_name: source.name, ...sourceReference }] : []),
    ...(externalId && isCve ? [{ source_name: 'cve', external_id: externalId }] : []),
    { source_name: 'tocsin', external_id: canonicalKey },
  ];
}

const mappingsOf = (item: FeedItem, framework: string): FeedItem['classification']['mappings'] =>
  item.classification.mappings.filter((mapping) => mapping.framework === framework);

const toVulnerabilities = (item: FeedItem): StixObject[] =>
  mappingsOf(item, 'cve').map(({ id }) => toVulnerabilityObject(id, item.source.tlp));

/** Several names can share an object: names that a later release resolves to one. */
function toThreats({ classification, source }: FeedItem): StixObject[] {
  const { malware, actor } = classification;
  const objects = [
    ...malware.map(({ name }) => toThreatObject(softwareKind(classification, name), name, source.tlp)),
    ...actor.map(({ name }) => toThreatObject('actor', name, source.tlp)),
  ];
  return [...new Map(objects.map((object) => [object.id, object])).values()];
}

/** A technique without an id belongs to its item. */
function toTechniques(item: FeedItem, { properties, toId }: ObjectContext): StixObject[] {
  const { attack } = item.classification;
  const known = attack.map(({ technique, subTechnique, techniqueName: name }) => ({
    id: subTechnique ?? technique,
    name,
  }));
  const others = mappingsOf(item, 'observable:attack-pattern').map(({ id, confidence }) =>
    isTechniqueId(id)
      ? toTechniqueObject({ id, name: id }, item.source.tlp)
      : {
          type: 'attack-pattern',
          id: toId('attack-pattern', id),
          ...properties,
          name: id,
          confidence: toPercent(confidence),
        },
  );
  return [...known.map((technique) => toTechniqueObject(technique, item.source.tlp)), ...others];
}

const isTechniqueId = (text: string): boolean => /^T\d{4}(?:\.\d{3})?$/.test(text);

/**
 * Returns one bundle of several items. Of an object that several items share, the latest version is included. The id of the bundle is derived
 * from its content.
 */
export const toBundle = (items: ItemVersion[]): StixBundle => mergeStixItems(items.map(toStixItem));

type StixBundle = { bundle: Record<string, unknown>; unsupported: UnsupportedFields };

/** Returns the bundle of items that are converted already, see `toBundle`. */
export function mergeStixItems(stixItems: ReturnType<typeof toStixItem>[]): StixBundle {
  const unsupported = sumUnsupported(stixItems.map((item) => item.unsupported));
  const objectById = new Map<string, StixObject>();
  for (const object of stixItems.flatMap((item) => item.objects)) {
    const other = objectById.get(object.id);
    if (!other || String(other['modified'] ?? '') < String(object['modified'] ?? '')) objectById.set(object.id, object);
  }
  const objects = [...objectById.values()];
  const versions = objects.map(({ id, modified }) => [id, modified]);
  const id = `bundle--${uuidv5(observableNamespace, JSON.stringify(versions))}`;
  return { bundle: { type: 'bundle', id, ...(objects.length > 0 ? { objects } : {}) }, unsupported };
}
