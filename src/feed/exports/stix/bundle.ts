import { toStixItem, type ItemVersion } from './stix-item.ts';
import { observableNamespace, uuidv5, type StixObject } from './stix-object.ts';
import { addUnsupported, type UnsupportedFields } from './unsupported-fields.ts';

/**
 * Returns one bundle of several items. Of an object that several items share, the latest version is included. The id of the bundle is derived
 * from its content.
 */
export function toBundle(items: ItemVersion[]): { bundle: object; unsupported: UnsupportedFields } {
  const objectById = new Map<string, StixObject>();
  const unsupported: UnsupportedFields = {};
  for (const item of items) {
    const stixItem = toStixItem(item);
    addUnsupported(unsupported, stixItem.unsupported);
    for (const object of stixItem.objects) {
      const other = objectById.get(object.id);
      if (!other || String(other['modified'] ?? '') < String(object['modified'] ?? ''))
        objectById.set(object.id, object);
    }
  }
  const objects = [...objectById.values()];
  const versions = objects.map(({ id, modified }) => [id, modified]);
  const id = `bundle--${uuidv5(observableNamespace, JSON.stringify(versions))}`;
  return { bundle: { type: 'bundle', id, ...(objects.length > 0 ? { objects } : {}) }, unsupported };
}
