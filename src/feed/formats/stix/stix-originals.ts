import type { ObjectGroup } from './group-objects.ts';
import { listRefs, readTextField, type StixBundle, type StixSourceObject } from './stix-objects.ts';

const charsMax = 4_000_000;

/** Ends by which an object joins others. */
const endsByType: Record<string, string[]> = {
  relationship: ['source_ref', 'target_ref'],
  sighting: ['sighting_of_ref'],
};

/**
 * The objects that a group is made of, as they came, with what joins them, who made them and how they are marked: a JSON list, or undefined
 * where they are larger or nested deeper than an item may be.
 */
export function serializeOriginals(
  bundle: StixBundle,
  { head, members }: ObjectGroup,
  joins: Joins,
): string | undefined {
  const own = head ? [head, ...members] : members;
  const ids = new Set(own.map(({ id }) => id));
  const joining = own
    .flatMap(({ id }) => joins.get(id) ?? [])
    .filter((object) => endsByType[object.type]!.every((end) => ids.has(readTextField(object, end))));
  const outside = [...own, ...joining].flatMap((object) => [
    readTextField(object, 'created_by_ref'),
    ...listRefs(object, 'object_marking_refs'),
  ]);
  const around = [...new Set(outside)]
    .filter((id) => !ids.has(id))
    .map((id) => bundle.objects.get(id))
    .filter((object) => object !== undefined);
  const text = textOf([...around, ...own, ...joining]);
  return text === undefined || text.length > charsMax ? undefined : text;
}

/** Undefined for objects nested too deep to be written. */
function textOf(objects: StixSourceObject[]): string | undefined {
  try {
    return JSON.stringify(objects);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type Joins = Map<string, StixSourceObject[]>;

/** What joins the objects of a document, by the object that it starts from. */
export function groupLinksByStart(bundle: StixBundle): Joins {
  const joins: Joins = new Map();
  for (const object of bundle.objects.values()) {
    const start = endsByType[object.type] && readTextField(object, endsByType[object.type]![0]!);
    if (!start) continue;
    const known = joins.get(start);
    if (known) known.push(object);
    else joins.set(start, [object]);
  }
  return joins;
}
