import type { SkippedEntry } from '../../model/source-record.ts';
import { listRefs, readTextField, type StixBundle, type StixSourceObject } from './stix-objects.ts';

/** What becomes one item: a head (absent for the rest of a bundle) and the objects that belong to it, the head not among them. */
export type ObjectGroup = { head: StixSourceObject | undefined; members: StixSourceObject[] };

const containers = new Set(['report', 'grouping']);

/** Types that can stand for a story where nothing contains them; an earlier tier takes its objects first. */
const tiers: string[][] = [
  ['campaign', 'incident'],
  ['intrusion-set', 'threat-actor'],
  ['malware', 'tool'],
  ['infrastructure', 'vulnerability'],
];

/** Whether what nothing holds is one item, or one each. */
export type LooseGrouping = 'together' | 'each';

/** Objects that join others and are nothing of their own in an item. */
const links = new Set(['relationship', 'sighting', 'marking-definition', 'language-content', 'extension-definition']);

/** Objects that only serve others; they are no entries of their own. */
const helpers = new Set([...links, 'identity', 'location']);

/**
 * Cuts a bundle into items. Each report or grouping with what it refers to is one; then each campaign, actor, malware, tool … that none
 * of these holds, with what is directly related to it and held by none; indicators and observations left over are one more item, or one each. Whatever ends in no item is named
 * in `skipped`.
 */
export function groupObjects(
  bundle: StixBundle,
  leftOver: LooseGrouping,
): { groups: ObjectGroup[]; skipped: SkippedEntry[] } {
  const held = new Set<string>();
  const related = relations(bundle);
  const groups: ObjectGroup[] = [];
  const hold = (head: StixSourceObject, refs: string[]): void => {
    const members = closure(bundle, refs).filter(
      ({ id, type }) => id !== head.id && !containers.has(type) && !links.has(type),
    );
    for (const { id } of [head, ...members]) held.add(id);
    groups.push({ head, members });
  };
  const objects = [...bundle.objects.values()];
  const reports = objects.filter(({ type }) => containers.has(type));
  const contained = new Set(reports.flatMap((report) => closure(bundle, listRefs(report)).map(({ id }) => id)));
  // What no report lists but is related to something this one lists belongs to it as well.
  const loose = (refs: string[]): string[] =>
    refs.flatMap((ref) => related.get(ref) ?? []).filter((ref) => isLoose(bundle, ref, contained));
  const observations = (refs: string[]): string[] =>
    loose(refs).filter((ref) => isObservation(bundle.objects.get(ref)!));
  for (const head of reports) {
    const first = [...listRefs(head), ...loose([head.id, ...listRefs(head)])];
    hold(head, [...first, ...observations(first)]);
  }
  for (const tier of tiers) {
    for (const head of objects.filter(({ type, id }) => tier.includes(type) && !held.has(id))) {
      const first = loose([head.id]);
      hold(head, [...first, ...observations(first)]);
    }
  }
  const stated = basesOf(bundle);
  const rest = objects.filter(({ id, type }) => !held.has(id) && !helpers.has(type) && !stated.has(id));
  const observed = rest.filter(isObservation);
  if (leftOver === 'together') {
    if (observed.length > 0) groups.push({ head: undefined, members: observed });
  } else {
    for (const head of heads(bundle, observed)) hold(head, [head.id]);
  }
  const skipped = rest
    .filter((object) => !isObservation(object))
    .map(({ id, type }) => ({ entry: id, reason: `a ${type} that no report or other item refers to` }));
  return { groups, skipped };
}

/** Of loose observations those that no other of them consists of. */
function heads(bundle: StixBundle, observed: StixSourceObject[]): StixSourceObject[] {
  const parts = new Set(
    observed.flatMap((object) =>
      closure(bundle, [object.id])
        .slice(1)
        .map(({ id }) => id),
    ),
  );
  return observed.filter(({ id }) => !parts.has(id));
}

const isLoose = (bundle: StixBundle, ref: string, contained: Set<string>): boolean =>
  !contained.has(ref) && !containers.has(bundle.objects.get(ref)?.type ?? '');

const observationTypes = new Set(['indicator', 'observed-data', 'malware-analysis']);

/** Cyber observables of 2.1 have neither creator nor time of their own. */
const isObservation = (object: StixSourceObject): boolean =>
  observationTypes.has(object.type) || (object['created'] === undefined && object.type !== 'bundle');

/** A mitigation says nothing of what happened, and what an indicator is based on nothing beyond it. */
const notOfTheStory = new Set(['mitigates', 'based-on']);

/** Observables that an indicator of the document is based on. */
function basesOf({ objects }: StixBundle): Set<string> {
  const bases = new Set<string>();
  for (const object of objects.values()) {
    const base = object['relationship_type'] === 'based-on' ? readTextField(object, 'target_ref') : '';
    if (objects.has(readTextField(object, 'source_ref')) && objects.get(base)?.['created'] === undefined)
      bases.add(base);
  }
  return bases;
}

/** Who is directly related to whom, both ways. */
function relations(bundle: StixBundle): Map<string, string[]> {
  const related = new Map<string, string[]>();
  const link = (from: string, to: string): void => {
    if (!bundle.objects.has(from) || !bundle.objects.has(to)) return;
    const known = related.get(from);
    if (known) known.push(to);
    else related.set(from, [to]);
  };
  for (const object of bundle.objects.values()) {
    if (
      object.type !== 'relationship' ||
      notOfTheStory.has(String(object['relationship_type'])) ||
      object['revoked'] === true
    )
      continue;
    const [source, target] = [readTextField(object, 'source_ref'), readTextField(object, 'target_ref')];
    link(source, target);
    link(target, source);
  }
  return related;
}

/** References that say who made an object and who may see it, not what it consists of. */
const outside = new Set(['created_by_ref', 'object_marking_refs']);

/** The objects named and what they consist of: observed objects, and those that these refer to. */
function closure(bundle: StixBundle, refs: string[]): StixSourceObject[] {
  const found = new Map<string, StixSourceObject>();
  const open = [...new Set(refs)].toReversed();
  for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
    const object = bundle.objects.get(ref);
    if (!object || found.has(ref)) continue;
    found.set(ref, object);
    if (object.type === 'observed-data' || object['created'] === undefined) {
      const parts = Object.entries(object).filter(([name]) => /_refs?$/.test(name) && !outside.has(name));
      for (const [, value] of parts) open.push(...[value].flat().filter((part) => typeof part === 'string'));
    }
  }
  return [...found.values()];
}
