import { type ObjectGroup, isObservation, findRoots, listParts } from './group-objects.ts';
import { listRefs, readTextField, type StixBundle, type StixSourceObject } from './stix-objects.ts';
import { countItems, itemsMax, pickItem } from '../split-record.ts';

const charsMax = 4_000_000;

/** The properties in which a link refers to the objects it connects. The first is its start. */
const linkRefs: Record<string, string[]> = {
  relationship: ['source_ref', 'target_ref'],
  sighting: ['sighting_of_ref'],
};

/**
 * Returns the original objects of a group with their links, creators and markings as a JSON list, or undefined if the list is too long or
 * nested too deep.
 */
export function serializeOriginals(
  bundle: StixBundle,
  { head, members }: ObjectGroup,
  links: LinksByStart,
): string | undefined {
  const grouped = head ? [head, ...members] : members;
  const linked = grouped.flatMap(({ id }) => links.get(id) ?? []);
  const objects = [...new Set([...grouped, ...listBases(bundle, linked)])];
  const ids = new Set(objects.map(({ id }) => id));
  const groupLinks = linked.filter((link) => linkRefs[link.type]!.every((name) => ids.has(readTextField(link, name))));
  const metadataRefs = [...objects, ...groupLinks].flatMap((object) => [
    readTextField(object, 'created_by_ref'),
    ...listRefs(object, 'object_marking_refs'),
  ]);
  const metadata = [...new Set(metadataRefs)]
    .filter((id) => !ids.has(id))
    .map((id) => bundle.objects.get(id))
    .filter((object) => object !== undefined);
  const text = serialize([...metadata, ...objects, ...groupLinks]);
  return text === undefined || text.length > charsMax ? undefined : text;
}

/** Returns the observables on which indicators are based. They are no members of a group, because they repeat the values of the indicators. */
const listBases = (bundle: StixBundle, links: StixSourceObject[]): StixSourceObject[] =>
  links
    .filter((link) => link['relationship_type'] === 'based-on')
    .map((link) => bundle.objects.get(readTextField(link, 'target_ref')))
    .filter((object) => object !== undefined)
    .filter((object) => object['created'] === undefined);

/** Returns a JSON list, or undefined if the objects are nested too deep for JSON.stringify. */
function serialize(objects: StixSourceObject[]): string | undefined {
  try {
    return JSON.stringify(objects);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export type LinksByStart = Map<string, StixSourceObject[]>;

/** Returns the links of a bundle by the object from which they start. */
export function groupLinksByStart(bundle: StixBundle): LinksByStart {
  const links: LinksByStart = new Map();
  for (const object of bundle.objects.values()) {
    const start = linkRefs[object.type] && readTextField(object, linkRefs[object.type]![0]!);
    if (!start) continue;
    const known = links.get(start);
    if (known) known.push(object);
    else links.set(start, [object]);
  }
  return links;
}

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
