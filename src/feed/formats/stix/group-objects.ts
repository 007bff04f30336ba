import type { SkippedEntry } from '../../model/source-record.ts';
import { listContentRefs, listRefs, readTextField, type StixBundle, type StixSourceObject } from './stix-objects.ts';

/** The objects of one item. The rest of a bundle has no head. `members` does not contain the head. */
export type ObjectGroup = { head: StixSourceObject | undefined; members: StixSourceObject[] };

const containers = new Set(['report', 'grouping']);

/** Returns whether an object is a report or grouping, whose references determine the members of an item. */
export const isContainer = ({ type }: StixSourceObject): boolean => containers.has(type);

/** Types that become the head of an item if no report contains them. An earlier tier claims its objects first. */
const tiers: string[][] = [
  ['campaign', 'incident'],
  ['intrusion-set', 'threat-actor'],
  ['malware', 'tool'],
  ['infrastructure', 'vulnerability'],
];

const headTypes = new Set(tiers.flat());

/** Whether ungrouped indicators and observations become one item together or one item each. */
export type LooseGrouping = 'together' | 'each';

/** Objects that connect or annotate others and are never members of an item. */
const links = new Set(['relationship', 'sighting', 'marking-definition', 'language-content', 'extension-definition']);

/** Objects that comment on others. They belong to the items of these. */
const annotations = new Set(['note', 'opinion']);

/** Objects that only support others. They are not reported as skipped. */
const helpers = new Set([...links, 'identity', 'location']);

/** The groups so far, and the state that their formation depends on. */
type Grouping = {
  bundle: StixBundle;
  groups: ObjectGroup[];
  /** The ids of the objects in `groups`. */
  grouped: Set<string>;
  /** The groups that contain an object which may form an item. A bundle has up to a million others. */
  groupsOf: Map<string, Set<ObjectGroup>>;
  /** The ids of the objects that a report contains. */
  contained: Set<string>;
  /** The ids of directly related objects. */
  related: Map<string, string[]>;
};

/** The head of an item, the ids it refers to, and their objects with all parts. */
type GroupStart = { head: StixSourceObject; refs: string[]; parts: StixSourceObject[] };

/**
 * Groups the objects of a bundle into items. Each report or grouping and the objects it refers to form an item. Then each remaining campaign,
 * actor, malware, tool … forms an item with its directly related objects that no report contains. If another of these items already contains
 * it, it forms an item of its own only if it has a relationship whose two ends no item contains. Remaining indicators and observations follow
 * `looseGrouping`. Notes belong to the items of the objects that they refer to. All other objects are skipped.
 */
export function groupObjects(
  bundle: StixBundle,
  looseGrouping: LooseGrouping,
): { groups: ObjectGroup[]; skipped: SkippedEntry[] } {
  const objects = [...bundle.objects.values()];
  const reports = objects.filter(({ type }) => containers.has(type)).map((head) => startGroup(bundle, head));
  const grouping: Grouping = {
    bundle,
    groups: [],
    grouped: new Set(),
    groupsOf: new Map(),
    contained: listContained(reports),
    related: listRelated(bundle),
  };
  for (const report of reports) addWithRelated(grouping, report);
  addFurtherHeads(grouping, objects);
  const rest = listUngrouped(grouping, objects);
  addObservations(grouping, rest.filter(isObservation), looseGrouping);
  const skipped = rest
    .filter((object) => !isObservation(object) && !grouping.grouped.has(object.id))
    .map(({ id, type }) => ({ entry: id, reason: `no item refers to this ${type}` }));
  return { groups: grouping.groups, skipped };
}

function startGroup(bundle: StixBundle, head: StixSourceObject): GroupStart {
  const refs = listRefs(head);
  return { head, refs, parts: collectParts(bundle, refs) };
}

function listContained(reports: GroupStart[]): Set<string> {
  const contained = new Set<string>();
  for (const { parts } of reports) for (const { id } of parts) contained.add(id);
  return contained;
}

/** Adds groups for the campaigns, actors, malware, tools … that have none, or that are related to objects outside of it. */
function addFurtherHeads(grouping: Grouping, objects: StixSourceObject[]): void {
  for (const tier of tiers)
    for (const head of objects.filter(({ type }) => tier.includes(type)))
      if (!grouping.grouped.has(head.id) || isSeparated(grouping, head.id))
        addWithRelated(grouping, { head, refs: none, parts: [] });
}

/** Returns the objects in no group, without those that only support others. */
function listUngrouped({ bundle, grouped }: Grouping, objects: StixSourceObject[]): StixSourceObject[] {
  const bases = listBases(bundle);
  return objects.filter(({ id, type }) => !grouped.has(id) && !helpers.has(type) && !bases.has(id));
}

function addObservations(grouping: Grouping, observed: StixSourceObject[], looseGrouping: LooseGrouping): void {
  const { bundle, groups, grouped } = grouping;
  if (looseGrouping === 'each') {
    for (const head of findRoots(bundle, observed)) {
      const parts = collectParts(bundle, [head.id]);
      addGroup(grouping, head, [...parts, ...listNotes(grouping, parts)]);
    }
  } else if (observed.length > 0) {
    const notes = listNotes(grouping, observed);
    for (const { id } of notes) grouped.add(id);
    groups.push({ head: undefined, members: [...new Set([...observed, ...notes])] });
  }
}

/** Returns the notes on the members of a group that no report contains. */
const listNotes = (grouping: Grouping, members: StixSourceObject[]): StixSourceObject[] =>
  listLoose(
    grouping,
    members.map(({ id }) => id),
  )
    .map((ref) => grouping.bundle.objects.get(ref)!)
    .filter(isAnnotation);

function addGroup({ groups, grouped, groupsOf }: Grouping, head: StixSourceObject, parts: StixSourceObject[]): void {
  const members = parts.filter(({ id, type }) => id !== head.id && !containers.has(type) && !links.has(type));
  const group = { head, members };
  for (const object of [head, ...members]) {
    grouped.add(object.id);
    if (headTypes.has(object.type) || !isAttached(object))
      groupsOf.set(object.id, (groupsOf.get(object.id) ?? new Set()).add(group));
  }
  groups.push(group);
}

/** Adds a group that also includes the related objects that no report contains. */
function addWithRelated(grouping: Grouping, { head, refs, parts }: GroupStart): void {
  const { bundle } = grouping;
  const loose = listLoose(grouping, [head.id, ...refs]);
  const observations = listLoose(grouping, [...refs, ...loose]).filter((ref) =>
    isObservation(bundle.objects.get(ref)!),
  );
  const further = [...loose, ...observations];
  addGroup(grouping, head, further.length === 0 ? parts : collectParts(bundle, [...refs, ...further]));
}

/** Returns the ids of the related objects that no report contains. */
const listLoose = ({ bundle, related, contained }: Grouping, refs: string[]): string[] =>
  refs.flatMap((ref) => related.get(ref)?.filter((other) => isLoose(bundle, other, contained)) ?? none);

/** Returns whether a grouped object is related to an object outside its groups. */
function isSeparated(grouping: Grouping, id: string): boolean {
  const { bundle, contained } = grouping;
  if (contained.has(id)) return false;
  return listLoose(grouping, [id]).some(
    (ref) => !isAttached(bundle.objects.get(ref)!) && !shareGroup(grouping, id, ref),
  );
}

function shareGroup({ groupsOf }: Grouping, id: string, other: string): boolean {
  const others = groupsOf.get(other);
  return others !== undefined && !others.isDisjointFrom(groupsOf.get(id)!);
}

/** Returns the observations that are not part of another one. */
export function findRoots(bundle: StixBundle, observed: StixSourceObject[]): StixSourceObject[] {
  const parts = new Set<string>();
  for (const object of observed.filter(hasParts))
    for (const { id } of listParts(bundle, object).slice(1)) parts.add(id);
  return observed.filter(({ id }) => !parts.has(id));
}

// Shared, because most objects of a large bundle are related to no other.
const none: string[] = [];

const isLoose = (bundle: StixBundle, ref: string, contained: Set<string>): boolean =>
  !contained.has(ref) && !containers.has(bundle.objects.get(ref)?.type ?? '');

/** Returns whether an object forms no item of its own but is a member of related items. */
const isAttached = (object: StixSourceObject): boolean =>
  isObservation(object) || helpers.has(object.type) || isAnnotation(object);

const isAnnotation = ({ type }: StixSourceObject): boolean => annotations.has(type);

const observationTypes = new Set(['indicator', 'observed-data', 'malware-analysis']);

/** STIX 2.1 cyber observables are recognized by the absence of `created`. */
export const isObservation = (object: StixSourceObject): boolean =>
  observationTypes.has(object.type) || (object['created'] === undefined && object.type !== 'bundle');

/** Relationships that add no objects to an item: mitigations and the observables that an indicator repeats. */
const ignoredRelationships = new Set(['mitigates', 'based-on']);

/** Returns the observables on which an indicator of the bundle is based. */
function listBases({ objects }: StixBundle): Set<string> {
  const bases = new Set<string>();
  for (const object of objects.values()) {
    const base = object['relationship_type'] === 'based-on' ? readTextField(object, 'target_ref') : '';
    if (objects.has(readTextField(object, 'source_ref')) && objects.get(base)?.['created'] === undefined)
      bases.add(base);
  }
  return bases;
}

/** Returns the directly related objects by id, in both directions, and the notes on an object. */
function listRelated(bundle: StixBundle): Map<string, string[]> {
  const related = new Map<string, string[]>();
  const link = (from: string, to: string): void => {
    if (!bundle.objects.has(from) || !bundle.objects.has(to)) return;
    const known = related.get(from);
    if (known) known.push(to);
    else related.set(from, [to]);
  };
  for (const object of bundle.objects.values()) {
    if (isAnnotation(object)) for (const ref of listRefs(object)) link(ref, object.id);
    if (
      object.type !== 'relationship' ||
      ignoredRelationships.has(String(object['relationship_type'])) ||
      object['revoked'] === true
    )
      continue;
    const [source, target] = [readTextField(object, 'source_ref'), readTextField(object, 'target_ref')];
    link(source, target);
    link(target, source);
  }
  return related;
}

/** Returns an observation and, recursively, its parts. An indicator, which most observations are, consists of itself alone. */
export const listParts = (bundle: StixBundle, object: StixSourceObject): StixSourceObject[] =>
  hasParts(object) ? collectParts(bundle, [object.id]) : [object];

const hasParts = (object: StixSourceObject): boolean =>
  object.type === 'observed-data' || object['created'] === undefined;

/** The samples of malware and the findings of its analysis. The analyst's own machine and software are not part of it. */
const listSampleRefs = (object: StixSourceObject): unknown[] =>
  object.type === 'malware' || object.type === 'malware-analysis'
    ? [object['sample_ref'], ...listRefs(object, 'sample_refs'), ...listRefs(object, 'analysis_sco_refs')]
    : none;

/** Returns the referenced objects and, recursively, the parts of their observations and the samples of malware. */
function collectParts(bundle: StixBundle, refs: string[]): StixSourceObject[] {
  const found = new Set<StixSourceObject>();
  for (const start of refs) {
    const open = [start];
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      const object = bundle.objects.get(ref);
      if (!object || found.has(object)) continue;
      found.add(object);
      const parts = hasParts(object) ? listContentRefs(object) : listSampleRefs(object);
      open.push(...parts.filter((part) => typeof part === 'string'));
    }
  }
  return [...found];
}
