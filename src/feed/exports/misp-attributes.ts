import { softwareKind } from './relationships/find-mentions.ts';
import { indicatorExpiresAt } from '../model/expiry.ts';
import type { IndicatorTypeDescriptor } from '../model/values/indicator-type.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import type { ObservableIndicator } from '../model/values/observables.ts';
import { isHarmlessHere, toMispRoleTag } from '../model/vocabulary.ts';
import { uuidv5 } from './stix/stix-object.ts';
import { indicatorTypes, type IndicatorType } from '../model/values/indicator-types.ts';

/** Further attribute types of MISP by category. */
const keptTypes: Record<string, string> = {
  'Payload delivery':
    'tlsh,vhash,pehash,impfuzzy,authentihash,sha224,sha384,sha3-256,cdhash,chrome-extension-id,email-x-mailer,email-reply-to,email-message-id',
  'Network activity': 'jarm-fingerprint,favicon-mmh3,hassh-md5,hasshserver-md5,ssh-fingerprint,x509-fingerprint-md5',
  'Artifacts dropped': 'named pipe,windows-scheduled-task,windows-service-name,windows-service-displayname,pdb',
  Attribution: 'whois-registrant-email,whois-registrant-name,whois-registrant-phone,whois-registrar,dns-soa-email',
  'Social network': 'jabber-id,twitter-id,github-username,github-repository',
  'Financial fraud': 'dash,iban,bic',
};

/** MISP attribute types of observables. A type of MISP keeps its name. */
export const attributeByObservable: Record<string, [type: string, category: string]> = {
  ...Object.fromEntries(
    Object.entries(keptTypes).flatMap(([category, types]) =>
      types.split(',').map((type): [string, [string, string]] => [type, [type, category]]),
    ),
  ),
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

type MispFields = Record<string, unknown>;

const describe = ({ type }: Indicator): IndicatorTypeDescriptor['misp'] => indicatorTypes[type as IndicatorType].misp;

export const toEpochSeconds = (iso: string): string => String(Math.floor(Date.parse(iso) / 1_000));

/** Returns an attribute of the event of an item, which is not for detection. Those of a retracted item are deleted. */
export const renderAttribute = (item: FeedItem, type: string, category: string, value: string): MispFields => ({
  uuid: toUuid(item, type, value),
  type,
  category,
  value,
  to_ids: false,
  timestamp: toEpochSeconds(item.lastUpdated),
  ...(item.event.status === 'retracted' ? { deleted: true } : {}),
});

const toUuid = (item: FeedItem, type: string, value: string): string =>
  uuidv5(item.id, JSON.stringify(['misp', type, value]));

/** Networks, mail addresses and other values that identify an attacker are for detection. A system or a user agent has others, too. */
const detectedTypes = new Set(
  `cidr email email-src mutex ja3 ja3-fingerprint-md5 btc xmr tlsh vhash pehash impfuzzy authentihash sha224 sha384 sha3-256 cdhash
  chrome-extension-id jarm-fingerprint favicon-mmh3 hassh-md5 hasshserver-md5 x509-fingerprint-md5 dash iban bic`.split(
    /\s+/,
  ),
);

export function renderObservable(item: FeedItem, { type, normalizedValue, status }: ObservableIndicator): MispFields {
  const [kind, category] = attributeByObservable[type]!;
  return {
    ...renderAttribute(item, kind, category, normalizedValue),
    to_ids: status === 'active' && detectedTypes.has(type),
    ...toWithdrawal(status),
  };
}

/** Returns the attributes and the objects of the indicators of an item. */
export function renderIndicators(item: FeedItem): { attributes: MispFields[]; objects: MispFields[] } {
  const indicators = Object.values(item.iocs).flat();
  return {
    attributes: indicators
      .filter((indicator) => describe(indicator).object === null)
      .map((indicator) => renderIndicator(item, indicator)),
    objects: indicators.map((indicator) => renderObject(item, indicator)).filter((object) => object !== undefined),
  };
}

function renderObject(item: FeedItem, indicator: Indicator): MispFields | undefined {
  const { object } = describe(indicator);
  if (!object) return undefined;
  const { name, relation, group, template, version } = object;
  const attribute = {
    ...renderIndicator(item, indicator),
    uuid: toUuid(item, `${name} ${relation}`, indicator.normalizedValue),
    object_relation: relation,
  };
  return {
    uuid: toUuid(item, `object ${name} ${relation}`, indicator.normalizedValue),
    name,
    'meta-category': group,
    template_uuid: template,
    template_version: version,
    timestamp: toEpochSeconds(item.lastUpdated),
    ...('deleted' in attribute ? { deleted: true } : {}),
    Attribute: [attribute],
  };
}

/**
 * Only active indicators are for detection (`to_ids`). Expired ones have a sighting of their expiration. Revoked ones and false positives are
 * marked deleted, the latter with the tag that says why, which is the role if the value is harmless in this item only.
 */
function renderIndicator(item: FeedItem, indicator: Indicator): MispFields {
  const { type, normalizedValue, status, firstSeen, lastSeen } = indicator;
  const { type: kind, category, isNoted } = describe(indicator);
  return {
    ...renderAttribute(item, kind, category, normalizedValue),
    to_ids: status === 'active',
    ...(isNoted ? { comment: type } : {}),
    ...(firstSeen ? { first_seen: firstSeen } : {}),
    ...(lastSeen ? { last_seen: lastSeen } : {}),
    ...(status === 'expired' ? { Sighting: [toExpiration(item, indicator)] } : {}),
    ...toWithdrawal(isHarmlessHere(indicator) ? 'revoked' : status, listValueTags(item, indicator)),
  };
}

/** Returns the tags of the role and the names that the source states for a value itself. */
const listValueTags = ({ classification }: FeedItem, { role, malware = [], actor = [] }: Indicator): string[] => [
  ...(role ? [toMispRoleTag(role)] : []),
  ...malware.map((name) => toNameTag(softwareKind(classification, name), name)),
  ...actor.map((name) => toNameTag('actor', name)),
];

/** Returns a sighting of type 2, an expiration. One that the organization decided dates from the last change. */
function toExpiration(item: FeedItem, indicator: Indicator): MispFields {
  const end = Math.min(indicatorExpiresAt(indicator, item), Date.parse(item.lastUpdated));
  return {
    uuid: toUuid(item, `expiration ${indicator.type}`, indicator.normalizedValue),
    type: '2',
    date_sighting: toEpochSeconds(new Date(end).toISOString()),
  };
}

/** Returns the tags of an attribute, and that it is deleted if its value is no longer valid. */
function toWithdrawal(status: string, names: string[] = []): MispFields {
  const tags = [...names, ...(status === 'false_positive' ? ['false-positive:confirmed="true"'] : [])];
  return {
    ...(status === 'revoked' || status === 'false_positive' ? { deleted: true } : {}),
    ...(tags.length > 0 ? { Tag: tags.map((name) => ({ name, exportable: true })) } : {}),
  };
}

const galaxyByKind = { malware: 'malpedia', tool: 'tool', actor: 'threat-actor' } as const;

/** Returns the tag of malware, a tool or an actor. */
export const toNameTag = (kind: keyof typeof galaxyByKind, name: string): string =>
  `misp-galaxy:${galaxyByKind[kind]}="${name}"`;
