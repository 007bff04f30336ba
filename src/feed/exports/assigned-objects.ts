import { keepAssigned, type NameFilter } from './assigned-values.ts';
import { toStixItem, type ItemVersion } from './stix/stix-item.ts';

type StixItem = ReturnType<typeof toStixItem>;

/**
 * Returns the STIX objects of an item without the indicators that it does not assign to the names of the filters. The other objects are those of
 * the whole item, because other bytes would need another `modified`. Of an item that came as STIX, all indicators are left out.
 */
export function keepAssignedObjects(version: ItemVersion, filters: NameFilter[]): StixItem {
  const { objects, unsupported } = toStixItem(version);
  if (version.originals) {
    const left = new Set(
      objects.filter(({ type }) => type === 'indicator' || type === 'observed-data').map(({ id }) => id),
    );
    const refersToLeft = (object: StixItem['objects'][number]): boolean =>
      ['source_ref', 'target_ref', 'sighting_of_ref'].some((name) => left.has(object[name] as string));
    return { objects: objects.filter((object) => !left.has(object.id) && !refersToLeft(object)), unsupported };
  }
  const { item } = keepAssigned(version.item, filters);
  const kept = new Set(toStixItem({ ...version, item }).objects.map(({ id }) => id));
  return { objects: objects.filter(({ id }) => kept.has(id)), unsupported };
}
