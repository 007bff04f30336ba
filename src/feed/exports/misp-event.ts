import {
  attributeByObservable,
  renderAttribute,
  renderIndicators,
  renderObservable,
  toEpochSeconds,
  toNameTag,
} from './misp-attributes.ts';
import { softwareKind } from './relationships/find-mentions.ts';
import { uuidv5 } from './stix/stix-object.ts';
import { sumUnsupported, type UnsupportedFields } from './stix/stix-patterns.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { listObservables } from '../model/values/observables.ts';
import { ownValue } from '../../platform/lib/json/json-values.ts';
import { mispSummaryComment, targetRegion, targetSector } from '../model/vocabulary.ts';

const threatLevels: Record<string, string> = { critical: '1', high: '1', medium: '2', low: '3', none: '4' };

/** MISP accepts UUIDs up to version 5, and item ids have version 7. Only the version digit changes, so the mapping is reversible. */
export const toMispEventId = (itemId: string): string => `${itemId.slice(0, 14)}4${itemId.slice(15)}`;
export const toItemId = (eventId: string): string => `${eventId.slice(0, 14)}7${eventId.slice(15)}`;

const isRetracted = (item: FeedItem): boolean => item.event.status === 'retracted';

/** The galaxies of mappings. Techniques that are not in ATT&CK's Enterprise matrix have no other place in an item. */
const galaxyByFramework: Record<string, string> = {
  'observable:attack-pattern': 'mitre-attack-pattern',
  [targetSector]: 'sector',
  [targetRegion]: 'target-information',
};

/** The types of attributes of mappings. */
const attributeByFramework: Record<string, string> = { cve: 'vulnerability', cwe: 'weakness' };

/** A tag has no other notation for a quotation mark. */
const listMappingTags = ({ mappings }: FeedItem['classification']): string[] =>
  mappings.flatMap(({ framework, id }) => {
    const galaxy = ownValue(galaxyByFramework, framework);
    return galaxy && !id.includes('"') ? [`misp-galaxy:${galaxy}="${id}"`] : [];
  });

function renderEventHeader(item: FeedItem): Record<string, unknown> {
  const { source, event } = item;
  const tags = [
    `tlp:${source.tlp.toLowerCase()}`,
    `severity:${event.severity}`,
    ...item.classification.attack.map(
      ({ technique, subTechnique, techniqueName }) =>
        `misp-galaxy:mitre-attack-pattern="${techniqueName} - ${subTechnique ?? technique}"`,
    ),
    ...item.classification.malware.map(({ name }) => toNameTag(softwareKind(item.classification, name), name)),
    ...item.classification.actor.map(({ name }) => toNameTag('actor', name)),
    ...listMappingTags(item.classification),
  ];
  return {
    info: isRetracted(item) ? `[retracted] ${event.title}` : event.title,
    Orgc: { name: source.publisher, uuid: uuidv5('00abedb4-aa42-466c-9c01-fed23315a9b7', source.publisher) },
    analysis: '2',
    Tag: [...new Set(tags)].map((name) => ({ name, exportable: true })),
    timestamp: toEpochSeconds(item.lastUpdated),
    date: (source.publishTime ?? item.addedToFeedAt).slice(0, 10),
    threat_level_id: threatLevels[event.severity]!,
  };
}

/** Renders the manifest of a MISP feed: the headers of its events by event id. */
export const renderMispManifest = (items: FeedItem[]): object =>
  Object.fromEntries(items.map((item) => [toMispEventId(item.id), renderEventHeader(item)]));

/** Returns the description of an item. Its comment says that other attributes and tags contain what it names. */
const renderDescription = (item: FeedItem, description: string): object => ({
  ...renderAttribute(item, 'comment', 'External analysis', description),
  comment: mispSummaryComment,
});

/** Renders an event. A retracted item and all of its attributes are marked deleted. */
export function renderMispEvent(item: FeedItem): { event: object; unsupported: UnsupportedFields } {
  const indicators = Object.values(item.iocs).flat();
  const description = item.abstract ?? item.summary;
  const { mappings } = item.classification;
  const references = mappings.filter(({ framework }) => Object.hasOwn(attributeByFramework, framework));
  const observables = listObservables(item).filter(({ type }) => Object.hasOwn(attributeByObservable, type));
  const counts = {
    attackPath: item.attackPath.length,
    affectedProducts: item.affectedProducts.length,
    'classification.killChain': item.classification.killChain.length,
    'classification.platforms': item.classification.platforms.length,
    'classification.mappings':
      mappings.length - references.length - observables.length - listMappingTags(item.classification).length,
    'provenance.supportingPassages': item.provenance.supportingPassages.length,
    'iocs.confidence': indicators.length + observables.length,
    'iocs.ttlDays': indicators.length,
  };
  const { attributes, objects } = renderIndicators(item);
  const event = {
    ...renderEventHeader(item),
    uuid: toMispEventId(item.id),
    published: true,
    ...(isRetracted(item) ? { deleted: true } : {}),
    publish_timestamp: toEpochSeconds(item.lastUpdated),
    Attribute: [
      ...(item.source.url ? [renderAttribute(item, 'link', 'External analysis', item.source.url)] : []),
      ...(description ? [renderDescription(item, description)] : []),
      ...references.map(({ framework, id }) =>
        renderAttribute(item, attributeByFramework[framework]!, 'External analysis', id),
      ),
      ...attributes,
      ...observables.map((observable) => renderObservable(item, observable)),
    ],
    ...(objects.length > 0 ? { Object: objects } : {}),
  };
  return { event: { Event: event }, unsupported: sumUnsupported([counts]) };
}
