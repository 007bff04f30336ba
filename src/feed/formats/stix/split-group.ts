import { countItems, itemsMax, pickItem } from '../split-record.ts';
import { isObservation, findRoots, listParts, type ObjectGroup } from './group-objects.ts';
import { listRefs, readTextField, type StixBundle, type StixSourceObject } from './stix-objects.ts';
import { serialize, type LinksByStart } from './stix-originals.ts';

/**
 * Splits a group with more observations than an item holds. Every part has the head with its references to the part; the first part has all other
 * members, and each further one has those that its observations are related to. Parts without observations are absent, except for the first.
 */
export function splitGroup(
  bundle: StixBundle,
  group: ObjectGroup,
  links: LinksByStart,
): { part: number; count: number; group: ObjectGroup }[] {
  const observed = group.members.filter(isObservation);
  const least = countItems(observed.length);
  const count = least === itemsMax ? least : countItems(observed.length, serialize(observed)?.length);
  if (count === 1) return [{ part: 0, count, group }];
  const context = group.members.filter((member) => !isObservation(member));
  const partsOf = assignParts(bundle, observed, { links, count });
  const parts = Array.from({ length: count }, () => new Set<StixSourceObject>());
  for (const member of context) parts[0]!.add(member);
  for (const [id, indexes] of partsOf) for (const index of indexes) parts[index]!.add(bundle.objects.get(id)!);
  const isContext = new Set(context);
  const addRelated = (member: StixSourceObject | undefined, observedId: string): void => {
    if (member && isContext.has(member)) for (const index of partsOf.get(observedId) ?? []) parts[index]!.add(member);
  };
  for (const object of [...observed, ...context])
    for (const link of links.get(object.id) ?? []) {
      const target = readTextField(link, 'target_ref');
      addRelated(bundle.objects.get(target), object.id);
      addRelated(object, target);
    }
  const refs = group.head && new Set(listRefs(group.head));
  const toPartGroup = (members: Set<StixSourceObject>): ObjectGroup => {
    const list = [...members];
    const object_refs = list.map(({ id }) => id).filter((id) => refs?.has(id));
    return { head: group.head && { ...group.head, object_refs }, members: list };
  };
  return parts.flatMap((members, part) =>
    members.size === 0 && part > 0 ? [] : [{ part, count, group: toPartGroup(members) }],
  );
}

/** Returns the parts of each observation. The objects that an observation consists of, or an indicator is based on, are in its part. */
function assignParts(
  bundle: StixBundle,
  observed: StixSourceObject[],
  { links, count }: { links: LinksByStart; count: number },
): Map<string, number[]> {
  const indicatorOf = new Map<string, string>();
  for (const { id } of observed)
    for (const link of links.get(id) ?? [])
      if (link['relationship_type'] === 'based-on') indicatorOf.set(readTextField(link, 'target_ref'), id);
  const partsOf = new Map<string, number[]>();
  for (const root of findRoots(bundle, observed)) {
    const part = pickItem(indicatorOf.get(root.id) ?? root.id, count);
    for (const { id } of listParts(bundle, root)) {
      const known = partsOf.get(id);
      if (!known) partsOf.set(id, [part]);
      else if (!known.includes(part)) known.push(part);
    }
  }
  return partsOf;
}
