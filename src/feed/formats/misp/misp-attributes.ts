import { instant } from '../../model/source-record.ts';
import { objectsOf, textOf, type JsonObject } from '../../../platform/lib/json/json-values.ts';

/** An attribute of an event or of an object in it. */
export type Attribute = {
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
export function attributesOf(event: JsonObject): Attribute[] {
  const found: Attribute[] = objectsOf(event['Attribute']).map((holder, at) => ({
    holder,
    prefix: `Attribute[${indexOf(event['Attribute'], holder, at)}].`,
    relation: undefined,
    deleted: false,
    validUntil: undefined,
  }));
  for (const [at, object] of objectsOf(event['Object']).entries()) {
    const place = indexOf(event['Object'], object, at);
    const parts = objectsOf(object['Attribute']);
    const end = parts.find((part) => part['object_relation'] === 'validity-not-after');
    for (const [index, holder] of parts.entries())
      found.push({
        holder,
        prefix: `Object[${place}].Attribute[${indexOf(object['Attribute'], holder, index)}].`,
        relation: `${textOf(object['name']) ?? ''} ${textOf(holder['object_relation']) ?? ''}`,
        deleted: object['deleted'] === true || object['deleted'] === '1',
        validUntil: instant(end?.['value']),
      });
  }
  return found;
}

/** Entries that are no objects were left out; the text counts them. */
const indexOf = (list: unknown, one: JsonObject, guess: number): number =>
  Array.isArray(list) && list[guess] === one ? guess : (list as unknown[]).indexOf(one);
