import type { FeedItem } from '../../feed/schema.ts';
import { indicatorObjects } from './indicators.ts';
import { stixLosses, type Losses } from './losses.ts';
import { markingOf } from './markings.ts';
import { identityOf, percent, stamp, uuidv5, type Common, type StixObject } from './object.ts';

/** An item as its version says it; `touchedAt`: when the organization that reads it last changed `retracted`, its own word on it. */
export type ExportedItem = {
  item: FeedItem;
  originals: StixObject[] | null;
  retracted: boolean;
  touchedAt: Date | null;
  /** A person made this version: what came as STIX was taken back, or given again. */
  byPerson: boolean;
};

export type StixItem = { objects: StixObject[]; losses: Losses };

/**
 * The STIX 2.1 objects of an item: the same for the same version of it, and with a later `modified` for every other one. What came as STIX
 * is given as it came, but for what a person took back.
 */
export function stixOfItem({ item, originals, retracted, touchedAt, byPerson }: ExportedItem): StixItem {
  const modified = later(item.lastUpdated, touchedAt);
  const isRetracted = retracted || item.event.status === 'retracted';
  if (originals) {
    const isRestated = isRetracted || touchedAt !== null || byPerson;
    const objects = isRestated ? originals.map((object) => restate(object, modified, isRetracted)) : originals;
    return { objects, losses: {} };
  }
  const publisher = identityOf(item.source.publisher);
  const marking = markingOf(item.source.tlp);
  const common: Common = {
    properties: {
      spec_version: '2.1',
      created_by_ref: publisher.id,
      created: stamp(item.createdAt),
      modified: stamp(modified),
      ...(isRetracted ? { revoked: true } : {}),
      object_marking_refs: [marking.id],
    },
    idOf: (type, key) => `${type}--${uuidv5(item.id, JSON.stringify([type, key]))}`,
  };
  const named = [...vulnerabilities(item, common), ...names(item, common), ...techniques(item, common)];
  const indicators = indicatorObjects(item, common);
  const report = reportOf(item, common, [...named, ...indicators.filter(({ type }) => type === 'indicator')]);
  return { objects: [marking, publisher, report, ...named, ...indicators], losses: stixLosses(item) };
}

const later = (iso: string, at: Date | null): string => (at && at.toISOString() > iso ? at.toISOString() : iso);

/** An object of others that is revoked, or stands again after that; observables, and what describes others, have no such state. */
function restate(object: StixObject, modified: string, revoked: boolean): StixObject {
  if (object['modified'] === undefined || object['revoked'] === true || object.type === 'identity') return object;
  return { ...object, modified: stamp(modified), ...(revoked ? { revoked } : {}) };
}

function reportOf(item: FeedItem, { properties, idOf }: Common, members: StixObject[]): StixObject {
  const { source, event } = item;
  const description = item.abstract ?? item.summary;
  const refs = members.map(({ id }) => id);
  return {
    type: 'report',
    id: idOf('report', ''),
    ...properties,
    name: event.title,
    ...(description ? { description } : {}),
    report_types: [item.canonicalKey.startsWith('cve:') ? 'vulnerability' : 'threat-report'],
    published: stamp(source.publishTime ?? item.addedToFeedAt),
    // A report must refer to something.
    object_refs: refs.length > 0 ? refs : [properties['created_by_ref']],
    labels: [`severity:${event.severity}`, `status:${event.status}`],
    confidence: percent(event.confidence),
    ...(source.language ? { lang: source.language } : {}),
    external_references: [
      ...(source.url || item.externalId
        ? [
            {
              source_name: source.name,
              ...(source.url ? { url: source.url } : {}),
              ...(item.externalId ? { external_id: item.externalId } : {}),
            },
          ]
        : []),
      { source_name: 'tocsin', external_id: item.canonicalKey },
    ],
  };
}

const mapped = (item: FeedItem, framework: string): FeedItem['classification']['mappings'] =>
  item.classification.mappings.filter((mapping) => mapping.framework === framework);

function vulnerabilities(item: FeedItem, { properties, idOf }: Common): StixObject[] {
  return mapped(item, 'cve').map(({ id, confidence }) => ({
    type: 'vulnerability',
    id: idOf('vulnerability', id),
    ...properties,
    name: id,
    confidence: percent(confidence),
    external_references: [{ source_name: 'cve', external_id: id }],
  }));
}

function names(item: FeedItem, { properties, idOf }: Common): StixObject[] {
  const { malware, actor } = item.classification;
  const tools = new Set(mapped(item, 'observable:tool').map(({ id }) => id.toLowerCase()));
  const object = (type: string, { name, aliases, confidence }: (typeof malware)[number]): StixObject => ({
    type,
    id: idOf(type, name),
    ...properties,
    name,
    ...(aliases.length > 0 ? { aliases } : {}),
    ...(type === 'malware' ? { is_family: true } : {}),
    confidence: percent(confidence),
  });
  return [
    ...malware.map((one) => object(tools.has(one.name.toLowerCase()) ? 'tool' : 'malware', one)),
    ...actor.map((one) => object('intrusion-set', one)),
  ];
}

function techniques(item: FeedItem, { properties, idOf }: Common): StixObject[] {
  const known = item.classification.attack.map(({ technique, subTechnique, techniqueName: name, confidence }) => ({
    id: subTechnique ?? technique,
    name,
    confidence,
  }));
  const others = mapped(item, 'observable:attack-pattern').map(({ id, confidence }) => ({ id, name: id, confidence }));
  return [...known, ...others].map(({ id, name, confidence }) => ({
    type: 'attack-pattern',
    id: idOf('attack-pattern', id),
    ...properties,
    name,
    confidence: percent(confidence),
    ...(/^T\d{4}/.test(id)
      ? {
          external_references: [
            {
              source_name: 'mitre-attack',
              external_id: id,
              url: `https://attack.mitre.org/techniques/${id.replace('.', '/')}`,
            },
          ],
        }
      : {}),
  }));
}
