import { parseInstant } from '../../model/source-record.ts';
import { asObjects, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';

/** An attribute of an event or of an object in it. */
export type EventAttribute = {
  holder: JsonObject;
  /** Where its fields stand: `Object[0].Attribute[3].`. */
  prefix: string;
  /** `<object> <relation>` for a part of an object. */
  relation: string | undefined;
  /** Its object was deleted. */
  deleted: boolean;
  /** Until when the certificate that its object describes is valid, as ISO text. */
  validUntil: string | undefined;
};

/** Every attribute of an event, those of its objects too, in their order. Proposals of others (ShadowAttribute) state nothing yet. */
export function listAttributes(event: JsonObject): EventAttribute[] {
  const found: EventAttribute[] = asObjects(event['Attribute']).map((holder, at) => ({
    holder,
    prefix: `Attribute[${indexOf(event['Attribute'], holder, at)}].`,
    relation: undefined,
    deleted: false,
    validUntil: undefined,
  }));
  for (const [at, object] of asObjects(event['Object']).entries()) {
    const place = indexOf(event['Object'], object, at);
    const parts = asObjects(object['Attribute']);
    const end = parts.find((part) => part['object_relation'] === 'validity-not-after');
    for (const [index, holder] of parts.entries())
      found.push({
        holder,
        prefix: `Object[${place}].Attribute[${indexOf(object['Attribute'], holder, index)}].`,
        relation: `${asText(object['name']) ?? ''} ${asText(holder['object_relation']) ?? ''}`,
        deleted: object['deleted'] === true || object['deleted'] === '1',
        validUntil: parseInstant(end?.['value']),
      });
  }
  return found;
}

/** Entries that are no objects were left out; the text counts them. */
const indexOf = (list: unknown, one: JsonObject, guess: number): number =>
  Array.isArray(list) && list[guess] === one ? guess : (list as unknown[]).indexOf(one);
