import { uuidv5 } from './stix/stix-object.ts';
import { sumUnsupported, type UnsupportedFields } from './stix/unsupported-fields.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { listObservables, type ObservableIndicator } from '../model/values/observables.ts';

/** MISP attribute type and category by indicator type (MISP core format). Other types become text attributes. */
const attributeByType: Record<string, [type: string, category: string]> = {
  ipv4: ['ip-dst', 'Network activity'],
  ipv6: ['ip-dst', 'Network activity'],
  domain: ['domain', 'Network activity'],
  url: ['url', 'Network activity'],
  md5: ['md5', 'Payload delivery'],
  sha1: ['sha1', 'Payload delivery'],
  sha256: ['sha256', 'Payload delivery'],
  sha512: ['sha512', 'Payload delivery'],
  ssdeep: ['ssdeep', 'Payload delivery'],
  imphash: ['imphash', 'Payload delivery'],
  file_name: ['filename', 'Payload delivery'],
  file_path: ['filename', 'Payload delivery'],
  registry_key: ['regkey', 'Persistence mechanism'],
  cert_sha1: ['x509-fingerprint-sha1', 'Network activity'],
  cert_sha256: ['x509-fingerprint-sha256', 'Network activity'],
  android_package: ['mobile-application-id', 'Payload delivery'],
  ios_bundle: ['mobile-application-id', 'Payload delivery'],
};

/** MISP attribute types of observables. A type of MISP keeps its name. */
const attributeByObservable: Record<string, [type: string, category: string]> = {
  cidr: ['ip-dst', 'Network activity'],
  email: ['email', 'Network activity'],
  asn: ['AS', 'Network activity'],
  AS: ['AS', 'Network activity'],
  mac: ['mac-address', 'Network activity'],
  'mac-address': ['mac-address', 'Network activity'],
  mutex: ['mutex', 'Artifacts dropped'],
  ja3: ['ja3-fingerprint-md5', 'Network activity'],
  'ja3-fingerprint-md5': ['ja3-fingerprint-md5', 'Network activity'],
  'user-agent': ['user-agent', 'Network activity'],
  btc: ['btc', 'Financial fraud'],
  xmr: ['xmr', 'Financial fraud'],
  'email-src': ['email-src', 'Payload delivery'],
  'email-dst': ['email-dst', 'Network activity'],
  'email-subject': ['email-subject', 'Payload delivery'],
  'pattern-in-file': ['pattern-in-file', 'Payload delivery'],
  uri: ['uri', 'Network activity'],
};

const threatLevels: Record<string, string> = { critical: '1', high: '1', medium: '2', low: '3', none: '4' };

/** MISP accepts UUIDs up to version 5, and item ids have version 7. Only the version digit changes, so the mapping is reversible. */
export const toMispEventId = (itemId: string): string => `${itemId.slice(0, 14)}4${itemId.slice(15)}`;
export const toItemId = (eventId: string): string => `${eventId.slice(0, 14)}7${eventId.slice(15)}`;

const toEpochSeconds = (iso: string): string => String(Math.floor(Date.parse(iso) / 1_000));
const isRetracted = (item: FeedItem): boolean => item.event.status === 'retracted';

function renderEventHeader(item: FeedItem): Record<string, unknown> {
  const { source, event } = item;
  const tags = [
    `tlp:${source.tlp.toLowerCase()}`,
    ...item.classification.attack.map(
      ({ technique, subTechnique, techniqueName }) =>
        `misp-galaxy:mitre-attack-pattern="${techniqueName} - ${subTechnique ?? technique}"`,
    ),
    ...item.classification.malware.map(({ name }) => `misp-galaxy:malpedia="${name}"`),
    ...item.classification.actor.map(({ name }) => `misp-galaxy:threat-actor="${name}"`),
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

/** Renders an event. All attributes of a retracted item are marked deleted. */
export function renderMispEvent(item: FeedItem): { event: object; unsupported: UnsupportedFields } {
  const indicators = Object.values(item.iocs).flat();
  const description = item.abstract ?? item.summary;
  const cves = item.classification.mappings.filter(({ framework }) => framework === 'cve');
  const observables = listObservables(item).filter(({ type }) => Object.hasOwn(attributeByObservable, type));
  const counts = {
    attackPath: item.attackPath.length,
    affectedProducts: item.affectedProducts.length,
    'classification.killChain': item.classification.killChain.length,
    'classification.platforms': item.classification.platforms.length,
    'classification.mappings': item.classification.mappings.length - cves.length - observables.length,
    'provenance.supportingPassages': item.provenance.supportingPassages.length,
    'iocs.confidence': indicators.length + observables.length,
    'iocs.ttlDays': indicators.length,
  };
  const attribute = (type: string, category: string, value: string): Record<string, unknown> => ({
    uuid: uuidv5(item.id, JSON.stringify(['misp', type, value])),
    type,
    category,
    value,
    to_ids: false,
    timestamp: toEpochSeconds(item.lastUpdated),
    ...(isRetracted(item) ? { deleted: true } : {}),
  });
  const event = {
    ...renderEventHeader(item),
    uuid: toMispEventId(item.id),
    published: true,
    publish_timestamp: toEpochSeconds(item.lastUpdated),
    Attribute: [
      ...(item.source.url ? [attribute('link', 'External analysis', item.source.url)] : []),
      ...(description ? [attribute('comment', 'External analysis', description)] : []),
      ...cves.map(({ id }) => attribute('vulnerability', 'External analysis', id)),
      ...indicators.map((indicator) => indicatorAttribute(indicator, attribute)),
      ...observables.map((observable) => observableAttribute(observable, attribute)),
    ],
  };
  return { event: { Event: event }, unsupported: sumUnsupported([counts]) };
}

/** Networks, mail addresses and other values that identify an attacker are for detection. A system or a user agent has others, too. */
const detectedTypes = new Set(['cidr', 'email', 'email-src', 'mutex', 'ja3', 'ja3-fingerprint-md5', 'btc', 'xmr']);

function observableAttribute(
  { type, normalizedValue, status }: ObservableIndicator,
  attribute: (type: string, category: string, value: string) => Record<string, unknown>,
): Record<string, unknown> {
  const [kind, category] = attributeByObservable[type]!;
  return {
    ...attribute(kind, category, normalizedValue),
    to_ids: status === 'active' && detectedTypes.has(type),
    ...withdrawal(status),
  };
}

/** Only active indicators are for detection (`to_ids`). Revoked ones and false positives are marked deleted, the latter with the tag that says why. */
function indicatorAttribute(
  { type, normalizedValue, status, firstSeen, lastSeen }: Indicator,
  attribute: (type: string, category: string, value: string) => Record<string, unknown>,
): Record<string, unknown> {
  const [kind, category] = attributeByType[type] ?? ['text', 'Other'];
  return {
    ...attribute(kind, category, normalizedValue),
    to_ids: status === 'active' && kind !== 'text',
    ...(kind === 'text' ? { comment: type } : {}),
    ...(firstSeen ? { first_seen: firstSeen } : {}),
    ...(lastSeen ? { last_seen: lastSeen } : {}),
    ...withdrawal(status),
  };
}

const withdrawal = (status: string): Record<string, unknown> => ({
  ...(status === 'revoked' || status === 'false_positive' ? { deleted: true } : {}),
  ...(status === 'false_positive' ? { Tag: [{ name: 'false-positive:confirmed="true"', exportable: true }] } : {}),
});
