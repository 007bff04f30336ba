import { parseInstant } from '../../model/source-record.ts';
import {
  asObjects,
  asScalarText,
  asText,
  isObject,
  type JsonObject,
  ownValue,
} from '../../../platform/lib/json/json-values.ts';
import {
  createAddressObservable,
  createObservable,
  listAddressObservables,
  type Observable,
} from '../../extraction/observable.ts';
import { indexTypes, isIndicatorType, typeEntries, type IndicatorType } from '../../model/values/indicator-types.ts';

/** An attribute of an event or of one of its objects. */
export type EventAttribute = {
  holder: JsonObject;
  /** The path of its fields, such as `Object[0].Attribute[3].`. */
  prefix: string;
  /** `<object> <relation>` for an attribute of an object. */
  relation: string | undefined;
  isObjectDeleted: boolean;
  /** The end of validity of the certificate that its object describes, as ISO text. */
  validUntil: string | undefined;
};

/** Returns whether a flag is set: exporters write flags as booleans, numbers or text. */
export const isSet = (value: unknown): boolean => value === true || value === 1 || value === '1';

/** Returns all attributes of an event and its objects in order. Proposals (ShadowAttribute) are not included. */
export function listAttributes(event: JsonObject): EventAttribute[] {
  const attributes: EventAttribute[] = asObjects(event['Attribute']).map((holder, index) => ({
    holder,
    prefix: `Attribute[${indexOf(event['Attribute'], holder, index)}].`,
    relation: undefined,
    isObjectDeleted: false,
    validUntil: undefined,
  }));
  for (const [objectGuess, object] of asObjects(event['Object']).entries()) {
    const objectIndex = indexOf(event['Object'], object, objectGuess);
    const parts = asObjects(object['Attribute']);
    const end = parts.find((part) => part['object_relation'] === 'validity-not-after');
    for (const [index, holder] of parts.entries())
      attributes.push({
        holder,
        prefix: `Object[${objectIndex}].Attribute[${indexOf(object['Attribute'], holder, index)}].`,
        relation: `${asText(object['name']) ?? ''} ${asText(holder['object_relation']) ?? ''}`,
        isObjectDeleted: isSet(object['deleted']),
        validUntil: parseInstant(end?.['value']),
      });
  }
  return attributes;
}

/** Returns the value of an attribute: exporters write ports as numbers and flags as booleans. Undefined if it is empty or no scalar. */
export const readAttributeValue = ({ value }: JsonObject): string | undefined =>
  typeof value === 'boolean' ? String(value) : asText(asScalarText(value));

/** Counts invalid attributes and objects and attributes without a type or value, so that every omission is reported. */
export function countUnreadable(event: JsonObject): number {
  const count = (list: unknown, isReadable: (entry: JsonObject) => boolean): number => {
    if (list === undefined || list === null) return 0;
    if (!Array.isArray(list)) return 1;
    return list.filter((entry) => !isObject(entry) || !isReadable(entry)).length;
  };
  const countAttributes = (list: unknown): number =>
    count(list, (entry) => asText(entry['type']) !== undefined && readAttributeValue(entry) !== undefined);
  const inObjects = asObjects(event['Object']).map((object) => countAttributes(object['Attribute']));
  return [countAttributes(event['Attribute']), count(event['Object'], () => true), ...inObjects].reduce(
    (a, b) => a + b,
  );
}

/** Returns the index in the document's list, in which `asObjects` may have skipped entries. */
const indexOf = (list: unknown, object: JsonObject, guess: number): number =>
  Array.isArray(list) && list[guess] === object ? guess : (list as unknown[]).indexOf(object);

/** Indicator types by MISP attribute type. */
const typeByAttribute = indexTypes(({ misp }) => misp.readFrom);

const addresses = new Set(['ip-src', 'ip-dst', 'ip']);

/** Attribute types that describe but do not identify. Their values appear only in the text. */
const descriptions = new Set(
  `text comment other datetime date counter boolean float integer hex port size-in-bytes mime-type link attachment
  anonymised target-user target-org target-location target-machine target-external target-email vulnerability weakness
  cpe gender nationality first-name last-name full-name date-of-birth place-of-birth compilation-timestamp`.split(
    /\s+/,
  ),
);

/** Composite types whose second half is an indicator too. Of other types (ports, registry data), only the first half is used. */
const composite = /^(filename|malware-sample)\|?([a-z0-9-]+)?$/;

/** Attribute types with values of several indicator types, which a comment tells apart. */
const notedTypes = new Set(typeEntries.flatMap(([, { misp }]) => (misp.isNoted ? [misp.type] : [])));

/** Returns the indicator type that the comment of an attribute states, as in the exports of this program (`aws_account`). */
export const findNotedType = (type: string, comment: string | undefined): IndicatorType | undefined =>
  comment !== undefined && notedTypes.has(type) && isIndicatorType(comment) ? comment : undefined;

/** Returns the indicators and other observables of an attribute. `relation` is `<object> <relation>` for an attribute of an object. */
export function toObservables(type: string, value: string, relation: string | undefined): Observable[] {
  const [first = '', second] = type.includes('|') || type === 'malware-sample' ? value.split('|', 2) : [value];
  const known = relation === undefined ? undefined : findRelationKind(relation);
  if (known === 'context') return [];
  if (known && 'type' in known) return [createObservable(known.type, value)];
  if (descriptions.has(type) || value.trim() === '') return [];
  if (known) return [{ kind: 'other', framework: known.framework, value }];
  const isFile = composite.exec(type);
  if (isFile && (type.includes('|') || type === 'malware-sample')) {
    const hash = isFile[1] === 'malware-sample' ? 'md5' : isFile[2]!;
    return [createObservable('file_name', first), ...(second ? [toObservable(hash, second)] : [])];
  }
  if (type === 'domain|ip')
    return [createObservable('domain', first), ...(second ? [createAddressObservable(second, 'ip')] : [])];
  if (type === 'regkey|value')
    return [createObservable('registry_key', first), ...(second ? [toObservable('registry-value', second)] : [])];
  if (type.includes('|')) return [toObservable(type.split('|')[0]!, first)];
  if (addresses.has(type)) return listAddressObservables(value, type);
  return [toObservable(type, value)];
}

function toObservable(type: string, value: string): Observable {
  const known = ownValue(typeByAttribute, type);
  if (known) return createObservable(known, value);
  if (addresses.has(type)) return createAddressObservable(value, type);
  // A path on a host is not a complete address.
  if (type === 'uri' && /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return createObservable('url', value);
  return { kind: 'other', framework: `observable:${type.slice(0, 60)}`, value };
}

/** Indicator types by object and relation, for attributes whose type alone is ambiguous. */
const typeByRelation = indexTypes(({ misp }) => misp.relations);

/** Relations whose values are a part of a file or belong to the owner of a host, with the type of their observable. */
const relationObservables: [RegExp, string][] = [
  [/^(?:pe|elf|macho)-section /, 'section-hash'],
  [/^pe richpe$/, 'richpe'],
  [/^pe (?:original|internal)-filename$/, 'original-filename'],
  [/ (?:nameserver|ns-record|mx-record|soa-record|dns-server)$/, 'name-server'],
  [/ (?:ptr-record|rdns|rdns_parent|reverse-dns|bailiwick)$/, 'reverse-name'],
];

/** The kind of threat that an attribute of an object names. */
const namedKinds: Record<string, 'malware' | 'actor'> = {
  'malware name': 'malware',
  'dga-domain malware-family': 'malware',
  'intrusion-set name': 'actor',
  'phishing-kit threat-actor': 'actor',
  'ransomware-group-post ransomware-group': 'actor',
};

/** Returns the kind of the name in an attribute of an object, or undefined if its value is no name. */
export const findNamedKind = (relation: string | undefined): 'malware' | 'actor' | undefined =>
  relation === undefined ? undefined : ownValue(namedKinds, relation);

/** Objects about a victim, and posts and publications about the threat, except for the links inside of them. */
const contextRelations =
  /^(?:victim|rogue-dns hijacked-domain|research-scanner) ?|^(?:blog|microblog|news-(?:agency|media)|publication|report|(?:twitter|facebook|instagram|reddit|parler|youtube)-[a-z-]+) (?!embedded-link$)/;

/** The meaning of an object's attribute: an indicator, another observable, or context, which only the text contains. */
type RelationKind = { type: IndicatorType } | { framework: string } | 'context';

/** Returns the type of an attribute by its object and relation, such as `pe-section md5`. Undefined if the attribute's own type determines it. */
function findRelationKind(relation: string): RelationKind | undefined {
  const type = ownValue(typeByRelation, relation);
  if (type) return { type };
  const other = relationObservables.find(([pattern]) => pattern.test(relation))?.[1];
  if (other) return { framework: `observable:${other}` };
  return contextRelations.test(relation) ? 'context' : undefined;
}
