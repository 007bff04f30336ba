import type { ObjectGroup } from './group-objects.ts';
import { listRefs, readTextField, type StixBundle, type StixSourceObject } from './stix-objects.ts';

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
export function serialize(objects: StixSourceObject[]): string | undefined {
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
