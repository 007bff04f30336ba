import { parseInstant } from '../../model/source-record.ts';
import { asObjects, asScalarText, asText, isObject, type JsonObject } from '../../../platform/lib/json/json-values.ts';

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
