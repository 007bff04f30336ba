import { addLosses, type Losses } from './unsupported-fields.ts';
import { stixOfItem, type ExportedItem } from './stix-item.ts';
import { uuidv5, type StixObject } from './stix-object.ts';

/** One bundle of several items; an object that several have stands in it once. Its id follows from what it holds. */
export function bundleOf(items: ExportedItem[]): { bundle: object; losses: Losses } {
  const objects = new Map<string, StixObject>();
  const losses: Losses = {};
  for (const item of items) {
    const made = stixOfItem(item);
    addLosses(losses, made.losses);
    for (const object of made.objects) {
      const known = objects.get(object.id);
      if (!known || String(known['modified'] ?? '') < String(object['modified'] ?? '')) objects.set(object.id, object);
    }
  }
  const list = [...objects.values()];
  const held = list.map(({ id, modified }) => [id, modified]);
  const id = `bundle--${uuidv5('00abedb4-aa42-466c-9c01-fed23315a9b7', JSON.stringify(held))}`;
  return { bundle: { type: 'bundle', id, ...(list.length > 0 ? { objects: list } : {}) }, losses };
}
