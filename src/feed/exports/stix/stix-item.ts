import type { FeedItem } from '../../model/item.schema.ts';
import { asWorded, type OwnWord } from '../own-overrides.ts';
import { indicatorObjects } from './stix-indicators.ts';
import { stixLosses, type Losses } from './unsupported-fields.ts';
import { markingOf } from './stix-markings.ts';
import { isTaken, restate } from './stix-originals.ts';
import { identityOf, percent, stamp, stampModified, uuidv5, type Common, type StixObject } from './stix-object.ts';

/** An item as its version says it, and what the organization that reads it said of it, the newest last: that holds. */
export type ExportedItem = {
  item: FeedItem;
  originals: StixObject[] | null;
  words: OwnWord[];
  /** A person made this version: what came as STIX was taken back, or given again. */
  byPerson: boolean;
};

export type StixItem = { objects: StixObject[]; losses: Losses };

/**
 * The STIX 2.1 objects of an item: the same for the same version of it and the same own words, and with a later `modified` for every other.
 * What came as STIX is given as it came, but for what a person took back.
 */
export function stixOfItem({ item: shared, originals, words, byPerson }: ExportedItem): StixItem {
  const word = words.at(-1);
  const item = asWorded(shared, word);
  const isRetracted = item.event.status === 'retracted';
  if (originals) {
    const isWhole = isRetracted || byPerson || words.some(({ status }) => status === 'retracted');
    const objects = originals.map((object) =>
      isWhole || words.some((one) => isTaken(object, shared, one))
        ? restate(object, item.lastUpdated, isRetracted || isTaken(object, shared, word))
        : object,
    );
    return { objects, losses: {} };
  }
  const publisher = identityOf(item.source.publisher);
  const marking = markingOf(item.source.tlp);
  const common: Common = {
    properties: {
      spec_version: '2.1',
      created_by_ref: publisher.id,
      created: stamp(item.createdAt),
      modified: stampModified(item.lastUpdated),
      ...(isRetracted ? { revoked: true } : {}),
      object_marking_refs: [marking.id],
    },
    idOf: (type, key) => `${type}--${uuidv5(item.id, JSON.stringify([type, key]))}`,
  };
  const named = [...vulnerabilities(item, common), ...names(item, common), ...techniques(item, common)];
  const indicators = indicatorObjects(item, word, common);
  const report = reportOf(item, common, [...named, ...indicators.filter(({ type }) => type === 'indicator')]);
  return { objects: [marking, publisher, report, ...named, ...indicators], losses: stixLosses(item) };
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
    external_references: referencesOf(item),
  };
}

/** A number of CVE stands under that name and under no other (STIX 2.1, section 2.5). */
function referencesOf({ source, externalId, canonicalKey }: FeedItem): Record<string, string>[] {
  const isCve = /^CVE-\d{4}-\d{4,}$/.test(externalId ?? '');
  const own = {
    ...(source.url ? { url: source.url } : {}),
    ...(externalId && !isCve ? { external_id: externalId } : {}),
  };
  return [
    ...(Object.keys(own).length > 0 ? [{ source_name: source.name, ...own }] : []),
    ...(externalId && isCve ? [{ source_name: 'cve', external_id: externalId }] : []),
    { source_name: 'tocsin', external_id: canonicalKey },
  ];
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
