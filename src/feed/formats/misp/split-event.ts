import { asObjects, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { countItems, pickItem } from '../split-record.ts';
import { readAttributeValue } from './misp-attributes.ts';

/** Fields of an event that only its first part has. */
const firstPartOnly = ['EventReport', 'RelatedEvent', 'ShadowAttribute'];

/**
 * Splits an event with more attributes than an item holds. Every part has the fields of the event, and the first part its reports as well. An
 * object stays whole. Parts without attributes are absent, except for the first.
 */
export function splitEvent(event: JsonObject): { part: number; count: number; event: JsonObject }[] {
  const [attributes, objects] = [asObjects(event['Attribute']), asObjects(event['Object'])];
  const inObjects = objects.reduce((sum, object) => sum + asObjects(object['Attribute']).length, 0);
  const count = countItems(attributes.length + inObjects);
  if (count === 1) return [{ part: 0, count, event }];
  const parts = Array.from({ length: count }, () => ({ Attribute: [] as JsonObject[], Object: [] as JsonObject[] }));
  for (const attribute of attributes) parts[pickItem(readValue(attribute), count)]!.Attribute.push(attribute);
  for (const object of objects) {
    const [first] = asObjects(object['Attribute']);
    parts[pickItem(first ? readValue(first) : '', count)]!.Object.push(object);
  }
  const rest = Object.fromEntries(Object.entries(event).filter(([name]) => !firstPartOnly.includes(name)));
  return parts.flatMap((members, part) => {
    const isEmpty = members.Attribute.length + members.Object.length === 0;
    return isEmpty && part > 0 ? [] : [{ part, count, event: { ...(part === 0 ? event : rest), ...members } }];
  });
}

const readValue = (attribute: JsonObject): string => readAttributeValue(attribute) ?? '';
