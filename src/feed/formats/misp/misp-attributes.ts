import { parseInstant } from '../../model/source-record.ts';
import { asObjects, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';

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
        isObjectDeleted: object['deleted'] === true || object['deleted'] === '1',
        validUntil: parseInstant(end?.['value']),
      });
  }
  return attributes;
}

/** Returns the index in the document's list, in which `asObjects` may have skipped entries. */
const indexOf = (list: unknown, object: JsonObject, guess: number): number =>
  Array.isArray(list) && list[guess] === object ? guess : (list as unknown[]).indexOf(object);
