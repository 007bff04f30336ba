import { toStixItem, type ItemVersion } from './stix-item.ts';
import { observableNamespace, uuidv5, type StixObject } from './stix-object.ts';
import { sumUnsupported, type UnsupportedFields } from './unsupported-fields.ts';

/**
 * Returns one bundle of several items. Of an object that several items share, the latest version is included. The id of the bundle is derived
 * from its content.
 */
export const toBundle = (items: ItemVersion[]): StixBundle => mergeStixItems(items.map(toStixItem));

type StixBundle = { bundle: Record<string, unknown>; unsupported: UnsupportedFields };

/** Returns the bundle of items that are converted already, see `toBundle`. */
export function mergeStixItems(stixItems: ReturnType<typeof toStixItem>[]): StixBundle {
  const unsupported = sumUnsupported(stixItems.map((item) => item.unsupported));
  const objectById = new Map<string, StixObject>();
  for (const object of stixItems.flatMap((item) => item.objects)) {
    const other = objectById.get(object.id);
    if (!other || String(other['modified'] ?? '') < String(object['modified'] ?? '')) objectById.set(object.id, object);
  }
  const objects = [...objectById.values()];
  const versions = objects.map(({ id, modified }) => [id, modified]);
  const id = `bundle--${uuidv5(observableNamespace, JSON.stringify(versions))}`;
  return { bundle: { type: 'bundle', id, ...(objects.length > 0 ? { objects } : {}) }, unsupported };
}
